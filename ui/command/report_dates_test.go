package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func TestMomentsOfAnotherDayAreReportedWithTheirDate(t *testing.T) {
	for _, c := range []struct {
		name  string
		days  int
		dated bool
	}{
		{"today", 0, false},
		{"two days ago", -2, true},
		{"in three days", 3, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			at := time.Now().AddDate(0, 0, c.days)
			var shown bytes.Buffer
			new(confirmReport).printProposal(&shown, confirm.Proposal{ExpiresAt: at})
			if date := at.Local().Format(time.DateOnly); strings.Contains(shown.String(), date) != c.dated {
				t.Errorf("%s: the date of the window (%s) is to be told: %v; told\n%s", c.name, date, c.dated, &shown)
			}
		})
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
