package account

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

var orderNoon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// item is an intent of an order, created so many minutes after noon.
func item(id api.ID, minute int, state api.IntentState, total int64) *Intent {
	in := &Intent{ID: id, State: state, Product: api.Text("product of " + id), CreatedAt: orderNoon.Add(time.Duration(minute) * time.Minute), ReferenceID: "order-1"}
	in.Since = in.CreatedAt.Add(time.Minute)
	if total > 0 {
		in.Total = &api.Money{Currency: "USD", Subunits: total}
	}
	return in
}

func TestAnOrderIsPutTogetherOfItsItems(t *testing.T) {
	yen := item("ci_5", 4, api.PlacingOrder, 1)
	yen.Total = &api.Money{Currency: "JPY", Subunits: 900}
	first, second := item("ci_2", 1, api.AwaitingConfirmation, 0), item("ci_3", 2, api.AwaitingConfirmation, 500)
	first.ExpiresAt, second.ExpiresAt = orderNoon.Add(time.Hour), orderNoon.Add(50*time.Minute)
	o := NewOrder("order-1", []*Intent{second, yen, item("ci_4", 3, api.Failed, 7_000), first, item("ci_1", 0, api.Completed, 2_000)})
	var ids []api.ID
	for _, in := range o.Intents {
		ids = append(ids, in.ID)
	}
	if want := []api.ID{"ci_1", "ci_2", "ci_3", "ci_4", "ci_5"}; !slices.Equal(ids, want) {
		t.Errorf("items %v, want %v", ids, want)
	}
	if o.Worst != api.Failed || o.Best != api.Completed {
		t.Errorf("%s to %s, want failed to completed", o.Worst, o.Best)
	}
	if want := []api.Money{{Currency: "USD", Subunits: 2_500}, {Currency: "JPY", Subunits: 900}}; !slices.Equal(o.Totals, want) || o.Unpriced != 1 {
		t.Errorf("totals %v and %d unpriced, want %v and 1: what failed costs nothing", o.Totals, o.Unpriced, want)
	}
	if o.Closing != second || !o.Ended.IsZero() {
		t.Errorf("closing %v, ended %v", o.Closing, o.Ended)
	}
	if o.Counts[api.AwaitingConfirmation] != 2 || o.Counts[api.Failed] != 1 || !o.PartlyFailed {
		t.Errorf("%v, partly failed %v", o.Counts, o.PartlyFailed)
	}
}

func TestASumThatDoesNotFitIsNotShownAsAnother(t *testing.T) {
	o := NewOrder("order-1", []*Intent{item("ci_1", 0, api.Completed, 1<<62), item("ci_2", 1, api.Completed, 1<<62)})
	if o.Unpriced != 1 || o.Totals[0].Subunits != 1<<62 {
		t.Errorf("%v and %d unpriced", o.Totals, o.Unpriced)
	}
}

func TestAnOrderIsPartlyFailed(t *testing.T) {
	missing := item("ci_2", 0, api.AwaitingConfirmation, 100)
	missing.Missing = true
	again := item("ci_9", 30, api.Completed, 100)
	again.Product = "product of ci_1"
	sibling := item("ci_9", 0, api.Completed, 100)
	sibling.Product = "product of ci_1"
	for _, c := range []struct {
		name  string
		items []*Intent
		want  bool
	}{
		{"where one failed and one completed", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_2", 0, api.Completed, 0)}, true},
		{"where one failed and one awaits", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_2", 0, api.AwaitingConfirmation, 0)}, true},
		{"where one failed and one is still to come", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_2", 0, api.RetrievingOffer, 0)}, true},
		{"not where all failed", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_2", 0, api.Failed, 0)}, false},
		{"not where none failed", []*Intent{item("ci_1", 0, api.Completed, 0), item("ci_2", 0, api.PlacingOrder, 0)}, false},
		{"not where the other is gone", []*Intent{item("ci_1", 0, api.Failed, 0), missing}, false},
		{"not where the other is not known", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_2", 0, "", 0)}, false},
		{"not where what failed was ordered again", []*Intent{item("ci_1", 0, api.Failed, 0), again}, false},
		{"though the same product was ordered before it failed", []*Intent{item("ci_1", 0, api.Failed, 0), sibling}, true},
		{"where one of two that failed was ordered again", []*Intent{item("ci_1", 0, api.Failed, 0), item("ci_3", 0, api.Failed, 0), again}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NewOrder("order-1", c.items).PartlyFailed; got != c.want {
				t.Errorf("partly failed: %v, want %v", got, c.want)
			}
		})
	}
}

func TestOrdersFollowTheirIntents(t *testing.T) {
	o := NewOrders()
	put := func(id api.ID, reference api.Text) { o.Put(&Intent{ID: id, ReferenceID: reference}) }
	put("ci_1", "a")
	put("ci_1", "a")
	if len(o.Items("a")) != 1 {
		t.Errorf("one intent is the items %v", o.Items("a"))
	}
	put("ci_2", "a")
	put("ci_3", "")
	if len(o.Items("a")) != 2 || o.Items("") != nil {
		t.Errorf("items %v and, without a reference, %v", o.Items("a"), o.Items(""))
	}
	put("ci_2", "b")
	if len(o.Items("a")) != 1 || len(o.Items("b")) != 1 {
		t.Errorf("after a move: %v and %v", o.Items("a"), o.Items("b"))
	}
	if o.Drop("ci_2"); o.Items("b") != nil || o.Drop("ci_2") != "" {
		t.Error("a dropped intent stays")
	}
	put("ci_4", "[masked]")
	put("ci_5", "[masked]")
	if o.Items("[masked]") != nil {
		t.Error("two buyers whose mail addresses are masked share an order")
	}
}

// readItem is a read of an intent that belongs to an order.
func readItem(s *Store, id api.ID, reference api.Text, state api.IntentState, created time.Time, buyer *api.Buyer) {
	s.ApplyRead(api.Intent{ID: id, State: state, CreatedAt: created, ReferenceID: reference, Buyer: buyer}, time.Now(), ByRead)
	pass(time.Millisecond)
}

func TestAPartlyFailedOrderIsAnAlertOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		created := time.Now()
		readItem(s, "ci_1", "order-7", api.AwaitingConfirmation, created, nil)
		readItem(s, "ci_2", "order-7", api.PlacingOrder, created, nil)
		readItem(s, "ci_3", "order-8", api.Failed, created, nil)
		readItem(s, "ci_4", "", api.Failed, created, nil)
		readItem(s, "ci_5", "", api.Completed, created, nil)
		s.tick(time.Now())
		if n, a := stands(s, AlertOrder); n != 0 {
			t.Fatalf("%+v: no order of several items has failed in part", a)
		}
		says := func(when, want string, due bool) {
			t.Helper()
			s.tick(time.Now())
			n, a := stands(s, AlertOrder)
			if n != 1 || a.Text != want || a.Intent != "ci_2" || due == a.Due.IsZero() {
				t.Errorf("%s: %d alerts, first %+v; want %q", when, n, a, want)
			}
		}
		readItem(s, "ci_2", "order-7", api.Failed, created, nil)
		says("while the rest can be confirmed", "order-7 is partly failed, 1 of 2 items: ask the buyer before you confirm the rest", true)
		readItem(s, "ci_1", "order-7", api.PlacingOrder, created, nil)
		says("while the rest is placed", "order-7 is partly failed, 1 of 2 items: the rest goes on; order again what failed", false)
		readItem(s, "ci_1", "order-7", api.Completed, created, nil)
		says("once it has ended", "order-7 is partly failed, 1 of 2 items: order again what failed, or return the rest at its merchant", false)
		pass(time.Hour)
		s.tick(time.Now())
		if n, a := stands(s, AlertOrder); n != 0 {
			t.Errorf("stands an hour after its end: %+v", a)
		}
		if o := s.Order("order-7"); o == nil || len(o.Intents) != 2 || s.Order("order-9") != nil {
			t.Errorf("order %+v", o)
		}
	})
}

func TestAnOrderThatFailedInPartLongAgoIsNoAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		readItem(s, "ci_1", "order-7", api.Failed, time.Now().Add(-3*time.Hour), nil)
		readItem(s, "ci_2", "order-7", api.Completed, time.Now().Add(-3*time.Hour), nil)
		s.tick(time.Now())
		if n, a := stands(s, AlertOrder); n != 0 {
			t.Errorf("%+v: it was only read now, and is long over", a)
		}
	})
}

func TestAnAlertOfAnOrderEndsWithWhatItIsAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{KeepIntents: 2})
		created := time.Now()
		readItem(s, "ci_1", "order-7", api.Failed, created, nil)
		readItem(s, "ci_2", "order-7", api.Completed, created, nil)
		s.tick(time.Now())
		if n, _ := stands(s, AlertOrder); n != 1 {
			t.Fatal("no alert")
		}
		for i := range 3 {
			pass(time.Minute)
			readItem(s, api.ID(rune('a'+i)), "", api.Completed, time.Now(), nil)
		}
		s.tick(time.Now())
		if n, a := stands(s, AlertOrder); n != 0 || s.Order("order-7") != nil {
			t.Errorf("%+v stands, though its intents are no longer kept", a)
		}
	})
}

func TestAnAlertNamesNoBuyer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		buyer := &api.Buyer{LastName: "Winterbottom"}
		readItem(s, "ci_1", "winterbottom-7", api.Failed, time.Now(), buyer)
		readItem(s, "ci_2", "winterbottom-7", api.Completed, time.Now(), buyer)
		s.tick(time.Now())
		n, a := stands(s, AlertOrder)
		if n != 1 || strings.Contains(a.Text, "winterbottom") || !strings.HasPrefix(a.Text, "the order of ci_1 ") {
			t.Errorf("%d alerts, first %+v", n, a)
		}
	})
}
