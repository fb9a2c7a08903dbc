package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestTheDetailPointsOutWhatThePartsLeaveOfTheTotal(t *testing.T) {
	for _, c := range []struct {
		name  string
		total int64
		want  string // "": nothing
	}{
		{"they add up", 1500, ""}, {"they are less", 2000, "! other 5.00 USD"}, {"they are more", 1000, "! other −5.00 USD"},
	} {
		usd := func(subunits int64) *api.Money { return &api.Money{Currency: "USD", Subunits: subunits} }
		read := &api.Intent{ID: "a", State: api.AwaitingConfirmation, Offer: &api.Offer{
			Cost: api.Cost{Subtotal: usd(1000), Shipping: usd(500), Total: usd(c.total)}, SelectedOptionID: "overnight",
		}}
		p := NewDetail(look(), api.ConfirmWindow)
		p.SetPlace(Place{W: 80, H: 30})
		p.Open(Subject{Kind: OfIntent, ID: "a"})
		p.SetFacts(Facts{Intent: &account.IntentDetail{Intent: *intentOf("a", api.AwaitingConfirmation, time.Minute), Latest: read}})
		got := strings.Join(strings.Fields(text(p.Lines())), " ")
		if !strings.Contains(got, c.want) || strings.Contains(got, "other") != (c.want != "") {
			t.Errorf("%s: want %q\n%s", c.name, c.want, got)
		}
		if !strings.Contains(got, "delivery overnight") {
			t.Errorf("%s: the shipping option is missing\n%s", c.name, got)
		}
	}
}
