package dialog

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// packed is what a dialog shows in the size that it wants, without borders and blanks.
func packed(d Dialog, width, height int) string {
	return strings.NewReplacer("│", "", " ", "", "\n", "").Replace(plain(sized(d, width, height)))
}

func TestConfirmNamesTheShippingOptionAndWhenItComes(t *testing.T) {
	day := func(date int) time.Time { return time.Date(2026, time.November, date, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name   string
		option api.ShippingOption
		want   string
	}{
		{"two days", api.ShippingOption{ID: "std-ground", EarliestDelivery: day(23), LatestDelivery: day(26)}, "std-ground, Nov 23 to 26"},
		{"one day", api.ShippingOption{ID: "overnight", EarliestDelivery: day(21), LatestDelivery: day(21)}, "overnight, Nov 21"},
		{"only the last day", api.ShippingOption{ID: "overnight", LatestDelivery: day(21)}, "overnight, by Nov 21"},
		{"only the first day", api.ShippingOption{ID: "overnight", EarliestDelivery: day(21)}, "overnight, from Nov 21"},
		{"no estimate", api.ShippingOption{ID: "overnight"}, "overnight"},
		{"a label", api.ShippingOption{ID: "so_91", Label: "Ground", LatestDelivery: day(26)}, "Ground, by Nov 26"},
	} {
		for _, size := range [][2]int{{40, 12}, {60, 16}, {80, 24}, {120, 36}} {
			for _, live := range []bool{false, true} {
				seen := socks()
				seen.Option, seen.Variant = c.option, "Size M"
				d := NewConfirm(seen, live, quiet(), opened)
				if got := packed(d, size[0], size[1]); !strings.Contains(got, strings.ReplaceAll(c.want, " ", "")) || !d.inFull {
					t.Errorf("%s, %v, live %t: want %q, and can be confirmed %t\n%s", c.name, size, live, c.want, d.inFull, plain(sized(d, size[0], size[1])))
				}
			}
		}
		several := basket(2)
		several[1].Option = c.option
		if got := packed(openBatch(t, several, false, 40).dialog, 80, 40); !strings.Contains(got, strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%s, several: want %q\n%s", c.name, c.want, got)
		}
	}
	if got := packed(NewConfirm(socks(), false, quiet(), opened), 80, 36); strings.Contains(got, "Delivery") {
		t.Errorf("it names an option though there is none:\n%s", got)
	}
}

func TestConfirmNamesThePromoCodesThatWereTaken(t *testing.T) {
	seen := socks()
	seen.PromoCodes = []api.Text{"WELCOME10", "SAVE5"}
	if got := packed(NewConfirm(seen, false, quiet(), opened), 80, 36); !strings.Contains(got, "PromocodesWELCOME10,SAVE5") {
		t.Error(got)
	}
	both := []confirm.Proposal{seen, socks()}
	if got := packed(openBatch(t, both, false, 40).dialog, 80, 40); !strings.Contains(got, "WELCOME10,SAVE5") {
		t.Errorf("several: %s", got)
	}
}

func TestConfirmPointsOutPartsThatDoNotAddUpToTheTotal(t *testing.T) {
	for _, c := range []struct {
		name       string
		total, tax *api.Money
		want       string // "": nothing is said
	}{
		{"they add up", usd(4452), usd(363), ""},
		{"they are less", usd(4952), usd(363), "! Other 5.00 USD"},
		{"they are more", usd(3952), usd(363), "! Other −5.00 USD"},
		{"several currencies", usd(4452), &api.Money{Currency: "EUR", Subunits: 363}, "! Other unknown: several currencies"},
	} {
		seen := socks()
		seen.Cost.Total, seen.Total, seen.Cost.Tax = c.total, *c.total, c.tax
		for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 36}} {
			d := NewConfirm(seen, false, quiet(), opened)
			got := packed(d, size[0], size[1])
			if said := strings.Contains(got, "Other"); said != (c.want != "") || !strings.Contains(got, strings.ReplaceAll(c.want, " ", "")) || !d.inFull {
				t.Errorf("%s, %v: want %q, and can be confirmed %t\n%s", c.name, size, c.want, d.inFull, plain(sized(d, size[0], size[1])))
			}
		}
		both := []confirm.Proposal{seen, socks()}
		if got := packed(openBatch(t, both, false, 40).dialog, 80, 40); !strings.Contains(got, strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%s, several: want %q\n%s", c.name, c.want, got)
		}
	}
}
