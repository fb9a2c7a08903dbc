package dialog

// sign is one glyph of the board with what it means.
type sign struct {
	glyph, meaning string
	style          shade
}

type signs struct {
	title string
	signs []sign
}

// legend explains the glyphs of the board. Each stands beside a word there.
func legend(p *paint) []signs {
	return []signs{
		{"Intents", []sign{
			{"◌", "retrieving the offer", p.retrieving},
			{"◆", "awaiting confirmation", p.awaiting},
			{"▸", "placing the order", p.placing},
			{"✓", "completed", p.completed},
			{"✕", "failed", p.failed},
			{"reported", "not read yet", p.muted},
			{"■", "marked", p.accent},
		}},
		{"Shipments", []sign{
			{"○", "ordered", p.muted},
			{"→", "shipped", p.retrieving},
			{"!", "delayed", p.warning},
			{"◔", "out for delivery", p.placing},
			{"✓", "delivered", p.completed},
			{"✕", "canceled", p.failed},
		}},
		{"Connections", []sign{
			{"●", "live", p.good},
			{"◌", "dialling", p.muted},
			{"◔", "replaying what was missed", p.warning},
			{"✕", "lost, failing or refused", p.bad},
			{"○", "none", p.muted},
		}},
	}
}
