package dialog

import (
	"tillwatch/api"
	"tillwatch/api/account"
	lines "tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
)

// meant is one sign of the board with what it means.
type meant struct {
	glyph, meaning string
	style          shade
}

type signs struct {
	title string
	signs []meant
}

// legend explains the signs of the board. Each stands beside a word there.
func legend(p *paint) []signs {
	return []signs{
		{"Intents", []meant{
			p.meant(sign.Intent(api.RetrievingOffer), "retrieving the offer"),
			p.meant(sign.Intent(api.AwaitingConfirmation), "awaiting confirmation"),
			p.meant(sign.Intent(api.PlacingOrder), "placing the order"),
			p.meant(sign.Intent(api.Completed), ""),
			p.meant(sign.Intent(api.Failed), ""),
			{"unread", "reported by an event, not read yet", p.muted},
			p.meant(sign.Marked(), ""),
		}},
		{"Shipments", p.eachMeant(api.ShipmentStatuses(), sign.Shipment)},
		{"Connections", []meant{
			p.meant(sign.Feed(account.FeedLive), ""),
			p.meant(sign.Feed(account.FeedConnecting), ""),
			p.meant(sign.Feed(account.FeedReplaying), "catching up on what was missed"),
			p.meant(sign.Feed(account.FeedLost), "lost or refused"),
			p.meant(sign.Feed(account.FeedOff), ""),
		}},
	}
}

// meant is a sign with its meaning, or its word where that says it.
func (p *paint) meant(s sign.Sign, meaning string) meant {
	if meaning == "" {
		meaning = s.Word
	}
	return meant{s.Glyph, meaning, p.shade(s.Style)}
}

func (p *paint) eachMeant(states []api.ShipmentStatus, of func(api.ShipmentStatus) sign.Sign) []meant {
	all := make([]meant, 0, len(states))
	for _, s := range states {
		all = append(all, p.meant(of(s), ""))
	}
	return all
}

// shade is a style of the board as one over the surface of a dialog.
func (p *paint) shade(s lines.Style) shade {
	switch s &^ lines.Bold {
	case lines.Muted:
		return p.muted
	case lines.Faint, lines.Rule:
		return p.faint
	case lines.Accent:
		return p.accent
	case lines.Retrieving:
		return p.retrieving
	case lines.Awaiting:
		return p.awaiting
	case lines.Placing:
		return p.placing
	case lines.Completed:
		return p.completed
	case lines.Failed:
		return p.failed
	case lines.Good:
		return p.good
	case lines.Warning:
		return p.warning
	case lines.Bad:
		return p.bad
	}
	return p.text
}
