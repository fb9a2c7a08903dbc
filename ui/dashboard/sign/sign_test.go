package sign

import (
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

func all() map[string][]Sign {
	signs := map[string][]Sign{}
	for _, s := range append(api.IntentStates(), "", "requires_action") {
		signs["intents"] = append(signs["intents"], Intent(s))
	}
	for _, s := range append(api.ShipmentStatuses(), "", "lost_at_sea") {
		signs["shipments"] = append(signs["shipments"], Shipment(s))
	}
	for s := account.FeedOff; s <= account.FeedRefused; s++ {
		signs["feeds"] = append(signs["feeds"], Feed(s))
	}
	for _, status := range []int{0, 200, 429, 500} {
		signs["answers"] = append(signs["answers"], Answer(status))
	}
	return signs
}

func TestEverySignIsAGlyphOfOneCellAndAWord(t *testing.T) {
	for of, signs := range all() {
		words := map[string]bool{}
		for _, s := range signs {
			if paint.Width(s.Glyph) != 1 || s.Word == "" {
				t.Errorf("%s: %+v", of, s)
			}
			if words[s.Word] {
				t.Errorf("%s: %q stands for two states", of, s.Word)
			}
			words[s.Word] = true
		}
	}
}

func TestListedIntentStatesDifferWithoutTheirColours(t *testing.T) {
	glyphs := map[string]api.IntentState{}
	for _, s := range api.IntentStates() {
		if other, twice := glyphs[Intent(s).Glyph]; twice {
			t.Errorf("%s and %s have the same glyph", s, other)
		}
		glyphs[Intent(s).Glyph] = s
	}
}

func TestAnEventLooksLikeTheStateItLeadsTo(t *testing.T) {
	for event, state := range map[api.EventType]api.IntentState{
		api.OfferRetrieved: api.AwaitingConfirmation, api.OfferFailed: api.Failed,
		api.IntentCompleted: api.Completed, api.OrderFailed: api.Failed,
	} {
		if got, want := Event(event), Intent(state); got.Glyph != want.Glyph || got.Style != want.Style {
			t.Errorf("%s: %+v, want the look of %+v", event, got, want)
		}
	}
}

func TestWhatIsNotListedIsShownAsItIsCalledAndScrubbed(t *testing.T) {
	for got, want := range map[Sign]string{
		Intent("requires_action"):       "requires action",
		Shipment("lost\x1b[2J_at_sea"):  "lost[2J at sea",
		Event("checkout_intent.paused"): "paused",
		Event("rung"):                   "rung",
	} {
		if got.Word != want || got.Style != paint.Unlisted {
			t.Errorf("%+v, want the word %q", got, want)
		}
	}
}
