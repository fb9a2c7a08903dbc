package pane

import (
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestAWideEventSaysOfWhomItSpeaksAndWhatCameOfIt(t *testing.T) {
	intents := map[api.ID]*account.Intent{
		"ci_0123456789abcdef": {Merchant: "paperie.example", Total: &api.Money{Subunits: 123450, Currency: "USD"}},
		"ci_77777777777777":   {Merchant: "paperie.example", Failure: &api.FailureReason{Code: "form_validation_error"}},
		"ci_fedcba9876543210": {Merchant: "a-merchant-with-a-long-name.example", Failure: &api.FailureReason{Code: "product_out_of_stock"}},
	}
	p := NewEvents(look(), func(id api.ID) (*account.Intent, bool) { in, ok := intents[id]; return in, ok })
	p.Apply(&account.Changes{Events: []*account.Event{
		{ID: "evt_1", Seq: 1, Type: api.OfferRetrieved, SourceID: "ci_0123456789abcdef", Product: "Gel Pens", Received: noon},
		{ID: "evt_2", Seq: 2, Type: api.OfferFailed, SourceID: "ci_fedcba9876543210", Product: "Gel Pens", Received: noon},
		{ID: "evt_3", Seq: 3, Type: api.OfferRetrieved, SourceID: "ci_unknown", Product: "Gel Pens", Received: noon},
		{ID: "evt_4", Seq: 4, Type: api.OfferFailed, SourceID: "ci_77777777777777", Product: "Mechanical Keyboard 75 %", Received: noon},
	}}, true)
	for width, want := range map[int][]string{
		160: {"Mechanical Keyboard 75 % paperie.example form validation error ci_77777777"},
		240: {"paperie.example 1,234.50 USD ci_0123456789abcdef", "a-merchant-with-a-l… out of stock ci_fedcba9876543210", "Gel Pens ci_unknown"},
		200: {"paperie.example 1,234.50 USD ci_01234567", "a-merchant-with-a-l… out of stock ci_fedcba98", "Gel Pens ci_unknown"},
		140: {"paperie.example 1,234.50 USD ci_01234567", "a-merchant-with-a-l… out of stock ci_fedcba98", "Gel Pens ci_unknown"},
		120: {"Gel Pens ci_0123456789abcdef", "Gel Pens ci_fedcba9876543210", "Gel Pens ci_unknown"},
	} {
		p.SetPlace(Place{W: width, H: 8})
		shown := strings.Join(strings.Fields(text(p.Lines())), " ")
		for _, words := range want {
			if !strings.Contains(shown, words) {
				t.Errorf("at %d cells there is no %q in %s", width, words, shown)
			}
		}
	}
}

func TestAnEventSaysNoMoreThanThePaneKnows(t *testing.T) {
	intents := map[api.ID]*account.Intent{}
	p := NewEvents(look(), func(id api.ID) (*account.Intent, bool) { in, ok := intents[id]; return in, ok })
	p.SetPlace(Place{W: 200, H: 8})
	p.Apply(&account.Changes{Events: []*account.Event{{ID: "evt_1", Type: api.OfferRetrieved, SourceID: "ci_1", Received: noon}}}, true)
	intents["ci_1"] = &account.Intent{ID: "ci_1", Merchant: "paperie.example"}
	p.Invalidate() // as on a screen that is held
	if shown := text(p.Lines()); strings.Contains(shown, "paperie") {
		t.Errorf("before the change is shown:\n%s", shown)
	}
	p.Apply(&account.Changes{Intents: []*account.Intent{intents["ci_1"]}}, false)
	if shown := text(p.Lines()); !strings.Contains(shown, "paperie") {
		t.Errorf("after it:\n%s", shown)
	}
}
