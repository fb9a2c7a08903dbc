package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestAnItemWithoutATotalMayAddToTheTotalOfAnyCurrency(t *testing.T) {
	item := func(id string, total *api.Money) *account.Intent {
		in := intentOf(id, api.AwaitingConfirmation, time.Minute)
		in.Total = total
		return in
	}
	items := []*account.Intent{
		item("a", &api.Money{Subunits: 1290, Currency: "EUR"}),
		item("b", &api.Money{Subunits: 4452, Currency: "USD"}),
		item("c", nil),
	}
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 80, H: 30})
	p.Open(Subject{Kind: OfOrder, ID: "order-7"})
	p.SetFacts(Facts{Order: account.NewOrder("order-7", items)})
	got := text(p.Lines())
	for _, want := range []string{"≥12.90 EUR, 1 not counted", "≥44.52 USD"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}
