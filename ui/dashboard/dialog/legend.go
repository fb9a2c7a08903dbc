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
			{"▶", "placing the order", p.placing},
			{"✓", "completed", p.completed},
			{"✕", "failed", p.failed},
			{"~", "reported, not read yet", p.muted},
		}},
		{"Shipments", []sign{
			{"→", "shipped", p.placing},
			{"◔", "out for delivery", p.awaiting},
			{"✓", "delivered", p.completed},
		}},
		{"Connections", []sign{
			{"●", "live", p.good},
			{"◐", "connecting, or behind", p.warning},
			{"○", "not reached", p.bad},
		}},
	}
}
