package dashboard

import (
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// BenchmarkViewOneRow is a frame after one intent changed and its event came.
func BenchmarkViewOneRow(b *testing.B) {
	s := typicalShop(time.Now())
	m := boardOf(b, s, 200, 60)
	m.View()
	base := *s.changes.Intents[4]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := base
		total := api.Money{Currency: "USD", Subunits: int64(1000 + i%100)}
		in.Total = &total
		e := &account.Event{Seq: int64(2000 + i), ID: api.ID("evt_" + time.Duration(i).String()), Type: api.OfferRetrieved, SourceID: in.ID, Product: in.Product, Received: s.now.Add(time.Duration(i))}
		m.Update(changesMsg{account.Changes{Version: uint64(i), Intents: []*account.Intent{&in}, Events: []*account.Event{e}, Summary: s.changes.Summary}})
		m.View()
	}
}

// manyShop is an account with n intents.
func manyShop(n int) *shop {
	s := typicalShop(time.Now())
	states := api.IntentStates()
	for i := range n {
		g := goods[i%len(goods)]
		in := &account.Intent{ID: s.id(1000 + i), State: states[i%len(states)], Certainty: account.Verified, Since: s.now.Add(-time.Duration(i) * time.Second),
			Product: api.Text(g.name), Merchant: api.Text(g.merchant), Total: &api.Money{Currency: "USD", Subunits: g.cents}}
		s.changes.Intents = append(s.changes.Intents, in)
	}
	return s
}
