package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func TestMomentsOfAnotherDayAreReportedWithTheirDate(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.Local)
	for days, want := range map[int]string{0: "12:00:00", -2: "2026-06-16 12:00:00", 3: "2026-06-21 12:00:00"} {
		if got := stamp(now.AddDate(0, 0, days), now); got != want {
			t.Errorf("%d days from now is %q, want %q", days, got, want)
		}
	}
}

func TestPartsThatDoNotAddUpAreReported(t *testing.T) {
	cost := api.Cost{Subtotal: &api.Money{Currency: "USD", Subunits: 4000}, Total: &api.Money{Currency: "USD", Subunits: 3500}}
	var shown bytes.Buffer
	new(confirmReport).printProposal(&shown, confirm.Proposal{Cost: cost, Total: *cost.Total, Option: api.ShippingOption{ID: "overnight"}, PromoCodes: []api.Text{"SAVE5"}})
	for _, want := range []string{"Other −5.00 USD, in none of the parts", "Delivery overnight", "Promo codes SAVE5"} {
		if said := strings.Join(strings.Fields(shown.String()), " "); !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
}
