package dialog

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
)

// meant is a sign of the board with its meaning.
type meant struct {
	glyph, meaning string
	style          paint.Style
}

type signs struct {
	title string
	signs []meant
}

// legend explains the board's signs, each of which has a word there.
func legend() []signs {
	return []signs{
		{"Intents", []meant{
			means(sign.Intent(api.RetrievingOffer), "retrieving the offer"),
			means(sign.Intent(api.AwaitingConfirmation), "awaiting confirmation"),
			means(sign.Intent(api.PlacingOrder), "placing the order"),
			means(sign.Intent(api.Completed), ""),
			means(sign.Intent(api.Failed), ""),
			{"unread", "no read shows its state", paint.Muted},
			means(sign.Marked(), ""),
			means(sign.Unseen(), ""),
		}},
		{"Shipments", eachMeans(api.ShipmentStatuses(), sign.Shipment)},
		{"Quota", []meant{
			means(sign.Own(), ""),
			means(sign.Observed(0), "an observed caller"),
			means(sign.Observed(1), "another one, and so on"),
			means(sign.Rest(), "the rest, or a forecast"),
			{"✕", "refused, or none left", paint.Bad},
			{"≥", "counted: at least this much", paint.Muted},
			{"≈", "inferred from headers", paint.Muted},
			{"~", "assumed, not reported", paint.Muted},
		}},
		{"Connections", []meant{
			means(sign.Feed(account.FeedLive), ""),
			means(sign.Feed(account.FeedConnecting), ""),
			means(sign.Feed(account.FeedReplaying), "catching up on missed events"),
			means(sign.Feed(account.FeedLost), "lost or refused"),
			means(sign.Feed(account.FeedOff), ""),
		}},
	}
}

// means is a sign with its meaning, or with its word if that says it.
func means(s sign.Sign, meaning string) meant {
	if meaning == "" {
		meaning = s.Word
	}
	return meant{s.Glyph, meaning, s.Style}
}

func eachMeans[S any](states []S, of func(S) sign.Sign) []meant {
	all := make([]meant, 0, len(states))
	for _, s := range states {
		all = append(all, means(of(s), ""))
	}
	return all
}
