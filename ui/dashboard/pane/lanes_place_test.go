package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// oneInEach is a pane with an intent in each lane, of a merchant with a long name.
func oneInEach(w int) *Intents {
	var all []*account.Intent
	for i, state := range api.IntentStates() {
		in := *intentOf("ci_"+string(state), state, time.Duration(i)*time.Minute)
		in.Merchant, in.Total = "glow-apothecary.example", &api.Money{Currency: "USD", Subunits: 131741}
		if state == api.Failed {
			in.Failure = &api.FailureReason{Code: "workflow_invocation_failed"}
		}
		all = append(all, &in)
	}
	return intents(w, 20, all...)
}

func TestTheHeadsOfTheLanesStayWhereAFilterFindsNothing(t *testing.T) {
	p := oneInEach(120)
	p.SetFilter(ParseFilter("nothing-like-this", p.Fields()))
	if got := text(p.Lines()); !strings.Contains(got, "✓ completed 0 of 1") || !strings.Contains(got, "nothing matches") {
		t.Errorf("the heads of the lanes are not all there:\n%s", got)
	}
}

func TestAMerchantKeepsItsHead(t *testing.T) {
	for merchant, cases := range map[string]map[int]string{
		"north-roast.example": {19: "north-roast.example", 18: "north-roast", 11: "north-roast"},
		"shop.north-roast.uk": {18: "shop.north-roast"},
		"Acme Goods Inc.":     {5: "Acme Goods Inc"},
		"Dr. Best":            {5: "Dr. Best"},
		"acme":                {2: "acme"},
		".hidden":             {2: ".hidden"},
	} {
		for room, want := range cases {
			if got := shortened(merchant, room); got != want {
				t.Errorf("%s in %d cells is %q, want %q", merchant, room, got, want)
			}
		}
	}
}

// Where cards are narrow, the reason matters most: the merchant takes what a whole reason leaves.
func TestAFailedCardShowsReasonMerchantAndTotal(t *testing.T) {
	for _, c := range []struct {
		width int
		code  api.FailureCode
		wants []string
	}{
		{200, "workflow_invocation_failed", []string{"1,317.41 USD", "workflow invocation fa… glow-apothecary"}},
		{160, "workflow_invocation_failed", []string{"1,317.41 USD", "workflow invoca… glow-apothecary"}},
		{160, "product_out_of_stock", []string{"1,317.41 USD", "out of stock glow-apothecary"}},
		{120, "workflow_invocation_failed", []string{"workflow invocation fai…"}},
		{120, "payment_declined", []string{"payment declined glow-…"}},
		{120, "product_out_of_stock", []string{"out of stock glow-apot…"}},
		{120, "expired", []string{"expired glow-apothecary"}},
	} {
		p := oneInEach(c.width)
		failed := *p.rows["ci_failed"].Intent
		failed.Failure = &api.FailureReason{Code: c.code}
		p.Apply(&account.Changes{Intents: []*account.Intent{&failed}}, false)
		lines := strings.Split(text(p.Lines()), "\n")
		x := p.lanes.cells[laneFailed].x
		card := strings.Join(strings.Fields(string([]rune(lines[3])[x:])+" "+string([]rune(lines[4])[x:])), " ")
		for _, want := range c.wants {
			if !strings.Contains(card, want) {
				t.Errorf("%s at %d columns: no %q in %s", c.code, c.width, want, card)
			}
		}
	}
}
