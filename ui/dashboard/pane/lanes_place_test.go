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

func TestLanesWithoutAHitFold(t *testing.T) {
	for _, width := range []int{108, 120, 160, 200} {
		p := oneInEach(width)
		p.SetFilter(ParseFilter("state:failed", p.Fields()))
		lines := strings.Split(text(p.Lines()), "\n")
		if !strings.HasPrefix(lines[1], " ◌ 0   ◆ 0   ▸ 0   ✓ 0   ✕ failed 1 of 1") {
			t.Errorf("%d columns: the lanes without a hit are not folded: %q", width, lines[1])
		}
		for _, want := range []string{"Product ci_failed", "workflow invocation failed", "glow-apothecary.example", "1,317.41 USD"} {
			if !strings.Contains(strings.Join(lines, "\n"), want) {
				t.Errorf("%d columns: %s has not got the room that is there:\n%s", width, want, strings.Join(lines, "\n"))
			}
		}
	}
}

func TestNoLaneFoldsWhereAFilterFindsNothing(t *testing.T) {
	p := oneInEach(120)
	p.SetFilter(ParseFilter("nothing-like-this", p.Fields()))
	if got := text(p.Lines()); !strings.Contains(got, "✓ completed 0 of 1") || !strings.Contains(got, "nothing matches") {
		t.Errorf("the heads of the lanes are not all there:\n%s", got)
	}
}

func TestALaneKeepsItsRoomWhenItsLastHitLeaves(t *testing.T) {
	p := oneInEach(160)
	p.SetFilter(ParseFilter("id:placing", p.Fields()))
	before := text(p.Lines())
	completed := *intentOf("ci_placing_order", api.Completed, 0)
	p.Apply(&account.Changes{Intents: []*account.Intent{&completed}}, false)
	after := text(p.Lines())
	if !strings.Contains(before, "✓ 0") || !strings.Contains(after, "▸ placing 0 of 0") || !strings.Contains(after, "✓ completed 1 of 2") {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	p.SetFilter(ParseFilter("id:ci_placing", p.Fields()))
	if got := text(p.Lines()); !strings.Contains(got, "▸ 0") {
		t.Errorf("another filter leaves it open:\n%s", got)
	}
}

func TestTheCursorPassesFoldedLanes(t *testing.T) {
	p := oneInEach(160)
	p.SetFilter(ParseFilter("!state:awaiting !state:placing !state:completed", p.Fields()))
	for _, c := range []struct {
		step Step
		want api.ID
	}{{First, "ci_retrieving_offer"}, {Right, "ci_failed"}, {Right, "ci_failed"}, {Left, "ci_retrieving_offer"}} {
		if p.Move(c.step); p.Subject().ID != c.want {
			t.Errorf("after step %d the cursor is on %s, want %s", c.step, p.Subject().ID, c.want)
		}
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
