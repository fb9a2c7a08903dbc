package pane

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// anyIntent is an intent of few ids and references, in any state.
func anyIntent(r *rand.Rand, now time.Time) *account.Intent {
	states := append(api.IntentStates(), "", "requires_action")
	n := r.IntN(40)
	in := &account.Intent{
		ID: api.ID(fmt.Sprintf("ci_%02d", n)), State: states[r.IntN(len(states))], CreatedAt: now.Add(-time.Duration(n) * time.Minute),
		Product: api.Text(fmt.Sprint("Product ", r.IntN(5))), Merchant: api.Text(fmt.Sprint("shop", r.IntN(3), ".example")), Certainty: account.Verified, ReadAt: now,
	}
	in.Since = in.CreatedAt.Add(time.Duration(r.IntN(600)) * time.Second)
	if r.IntN(4) > 0 {
		in.ReferenceID = api.Text(fmt.Sprint("order-", r.IntN(12)))
	}
	if r.IntN(3) > 0 {
		in.Total = &api.Money{Currency: []string{"USD", "JPY"}[r.IntN(2)], Subunits: int64(r.IntN(50_000))}
	}
	return in
}

// TestGroupingKeepsUpWithAnyChange compares a pane that was grouped all along with
// one that is grouped afterwards.
func TestGroupingKeepsUpWithAnyChange(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		along, after := NewIntents(look(), api.ConfirmWindow), NewIntents(look(), api.ConfirmWindow)
		along.Group(true)
		there := map[api.ID]bool{}
		for range 30 {
			var c account.Changes
			for range r.IntN(100) {
				in := anyIntent(r, noon)
				there[in.ID] = true
				c.Intents = append(c.Intents, in)
			}
			if r.IntN(3) == 0 {
				for id := range there {
					if !slices.ContainsFunc(c.Intents, func(in *account.Intent) bool { return in.ID == id }) && r.IntN(4) == 0 {
						c.GoneIntents = append(c.GoneIntents, id)
						delete(there, id)
					}
				}
			}
			for _, p := range []*Intents{along, after} {
				p.Apply(&c, true)
			}
			if r.IntN(3) == 0 {
				filter := ParseFilter([]string{"", "state:failed", "shop1", "order-3", "total>100"}[r.IntN(5)], along.Fields())
				along.SetFilter(filter)
				after.SetFilter(filter)
			}
			if r.IntN(4) == 0 {
				reverse := r.IntN(2) == 0
				along.Sort("", reverse)
				after.Sort("", reverse)
			}
		}
		after.Group(true)
		got, want := rowsShown(along), rowsShown(after)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: grouped all along:\n%q\nafterwards:\n%q", seed, got, want)
		}
		checkHeads(t, along)
	}
}

func rowsShown(p *Intents) (rows []string) {
	for _, row := range p.list.Found() {
		text := row.key() + " " + string(row.State) + " " + row.total
		if row.order != nil {
			text += fmt.Sprint(row.order.Totals, row.order.Counts, row.order.Worst, row.order.Best)
		}
		rows = append(rows, text)
	}
	return rows
}

// checkHeads looks whether each item stands below its own head, and each intent is
// there once.
func checkHeads(t *testing.T, p *Intents) {
	t.Helper()
	p.SetFilter(nil)
	var head *intentRow
	intents := 0
	for _, row := range p.list.Found() {
		switch {
		case row.order != nil:
			head = row
			if len(row.order.Intents) < 2 {
				t.Errorf("%q has %d items", row.order.Reference, len(row.order.Intents))
			}
			continue
		case row.head != nil && (head == nil || row.head.key() != head.key() || row.ReferenceID != head.order.Reference):
			t.Errorf("%s stands below another head", row.ID)
		}
		intents++
	}
	if intents != len(p.rows) {
		t.Errorf("%d intents are grouped, of %d", intents, len(p.rows))
	}
}

func TestTheTotalOfAnOrderIsUnknownLikeThoseOfItsItems(t *testing.T) {
	var all []*account.Intent
	for _, id := range []string{"a", "b"} {
		in := intentOf(id, api.AwaitingConfirmation, time.Minute)
		in.ReferenceID, in.Total = "order-1", nil
		all = append(all, in)
	}
	for _, width := range []int{80, 120, 200} {
		p := intents(width, 12, all...)
		p.Group(true)
		got := text(p.Lines())
		if _, head, _ := strings.Cut(got, "order-1"); !strings.Contains(strings.Split(head, "\n")[0], "–") {
			t.Errorf("%d columns: the head leaves its total out:\n%s", width, got)
		}
	}
}
