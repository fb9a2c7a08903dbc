package dialog

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// basket is n orders, each of its own total.
func basket(n int) []confirm.Proposal {
	var all []confirm.Proposal
	for i := range n {
		p := socks()
		p.ID = api.ScrubID(fmt.Sprintf("ci_%d", i))
		p.Product = api.Scrub(fmt.Sprintf("Product %d", i))
		p.Total = *usd(int64(1000 + i))
		p.ExpiresAt = p.ExpiresAt.Add(time.Duration(i) * time.Minute)
		all = append(all, p)
	}
	return all
}

func openBatch(t *testing.T, all []confirm.Proposal, live bool, height int) *hand {
	t.Helper()
	d, err := NewBatch(all, live, quiet(), opened)
	if err != nil {
		t.Fatal(err)
	}
	h := &hand{t: t, dialog: d, at: opened}
	w, height := d.Size(80, height)
	d.View(ink(), w, height)
	return h
}

func TestABatchShowsThePageOfEachItem(t *testing.T) {
	all := basket(3)
	all[1].ProductURL, all[1].Merchant = "https://elsewhere.example/p/2?token=secret", "acme.example"
	all[2].ProductURL = api.Scrub("https://acme.example/products/" + strings.Repeat("long-", 40) + "end")
	h := openBatch(t, all, false, 40)
	for _, want := range []string{"acme.example/products/wool-socks", "acme.example, elsewhere.example/p/2", "acme.example/products/long-", "-end"} {
		h.sees(want)
	}
	if got := plain(h.dialog.View(ink(), 80, 40)); strings.Contains(got, "secret") {
		t.Errorf("a secret is in view:\n%s", got)
	}
}

func TestABatchHasTheGuardsOfTheSingleOne(t *testing.T) {
	for _, name := range []string{"c", "y", "enter", " ", "esc", "q"} {
		if got := openBatch(t, basket(2), false, 40).key(name, calm); got == Confirmed {
			t.Errorf("%q confirmed", name)
		}
	}
	h := openBatch(t, basket(2), false, 40)
	if got := h.key("C", quietFor-time.Millisecond); got != None {
		t.Errorf("C before the quiet answered %v", got)
	}
	h = openBatch(t, basket(2), true, 40)
	for _, name := range []string{"2", "0", ".", "0", "1"} {
		h.key(name, calm)
	}
	h.key("tab", calm)
	if got := h.key("enter", calm); got != Confirmed {
		t.Errorf("after the sum was typed enter on Confirm answered %v", got)
	}
	h = openBatch(t, basket(2), true, 40)
	for _, name := range []string{"c", "i", "_", "1", "tab"} {
		h.key(name, calm)
	}
	if h.dialog.armed() {
		t.Error("the end of an id arms a batch")
	}
	h = openBatch(t, basket(2), false, 40)
	if got := h.key("C", time.Hour); got != None {
		t.Errorf("after the first window has closed C answered %v", got)
	}
	h.sees("Not all can be confirmed any more.")
	h.sees("Close this, and confirm those that are still open.")
}

func TestABatchIsConfirmedOnlyAfterAllOfItWasInView(t *testing.T) {
	h := openBatch(t, basket(40), false, 22)
	if got := h.key("C", calm); got != None {
		t.Fatalf("C before the end was in view answered %v", got)
	}
	if got := plain(h.dialog.View(ink(), 66, 22)); !strings.Contains(got, "See the whole list first: scroll, or enlarge the terminal.") {
		t.Errorf("nothing says why:\n%s", got)
	}
	for range 40 {
		h.key("pgdown", calm)
		h.dialog.View(ink(), 66, 22)
	}
	if got := plain(h.dialog.View(ink(), 66, 22)); !strings.Contains(got, "Product 39") || !strings.Contains(got, "of 40") {
		t.Errorf("the end is not in view:\n%s", got)
	}
	if got := h.key("C", calm); got != Confirmed {
		t.Errorf("after all was in view C answered %v", got)
	}
	small := openBatch(t, basket(3), false, 6)
	if got := small.key("C", calm); got != None {
		t.Errorf("in six lines C answered %v", got)
	}
}

func TestABatchShowsAllOfWhatHasALongName(t *testing.T) {
	all := basket(6)
	all[1].Variant = "Size XL"
	all[3].Product = "Merino Hiking Socks for Long Days in Wet Boots, Reinforced at Heel and Toe, in a Gift Box with a Card"
	all[3].Variant = "Colour Heather Grey / Size XL, extra long / Pack of three pairs in a tin"
	all[5].Merchant = "the-outfitters-of-the-northern-mountains-and-the-far-islands.example"
	for _, size := range [][2]int{{66, 40}, {66, 22}, {44, 18}, {66, 12}} {
		h := openBatch(t, all, false, 40)
		h.dialog.batch.seen = 0
		var seen strings.Builder
		for range all {
			seen.WriteString(plain(h.dialog.View(ink(), size[0], size[1])))
			if h.key("C", calm) == Confirmed {
				break
			}
			h.key("pgdown", calm)
		}
		shown := seen.String()
		for _, p := range all { // a total stands beside the first line of a name
			shown = strings.ReplaceAll(shown, p.Total.String(), "")
		}
		packed := strings.NewReplacer("│", "", " ", "", "\n", "").Replace(shown)
		switch h.key("C", calm); {
		case h.dialog.phase == running:
		case size[1] < 18:
			continue // the longest does not fit: no yes
		default:
			t.Errorf("%v: after all was in view it takes no yes:\n%s", size, seen.String())
		}
		for _, p := range all {
			for _, text := range []string{string(p.Product) + " ×2", string(p.Variant), string(p.Merchant)} {
				if !strings.Contains(packed, strings.ReplaceAll(text, " ", "")) {
					t.Errorf("%v takes a yes without %q:\n%s", size, text, seen.String())
				}
			}
		}
	}
}

func TestABatchThatIsScrolledPastSomethingTakesNoYes(t *testing.T) {
	h := openBatch(t, basket(40), false, 22)
	for range 60 {
		h.dialog.Scroll(5) // without a look at what is passed
	}
	h.dialog.View(ink(), 66, 22)
	if got := h.key("C", calm); got != None {
		t.Errorf("C answered %v although most of it was never in view", got)
	}
}

func TestSumsAreByCurrencyAndExact(t *testing.T) {
	all := basket(3)
	all[1].Total = api.Money{Currency: "EUR", Subunits: 5}
	sums, err := Sums(all)
	if err != nil || len(sums) != 2 || sums[0] != *usd(2002) || sums[1].Subunits != 5 {
		t.Errorf("sums %v, %v", sums, err)
	}
	if _, err := NewBatch(all, true, quiet(), opened); err == nil || !strings.Contains(err.Error(), "one currency") {
		t.Errorf("two currencies of real money: %v", err)
	}
	d, err := NewBatch(all, false, quiet(), opened)
	if err != nil {
		t.Fatal(err)
	}
	screen := ansi.Strip(strings.Join(d.View(ink(), 66, 30), "\n"))
	for _, want := range []string{"Total USD", "20.02 USD", "Total EUR", "0.05 EUR", "Confirm all 3"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	all[0].Total.Subunits = math.MaxInt64
	if _, err := Sums(all); err == nil {
		t.Error("an overflow is no error")
	}
	all[0].Total.Subunits = -1
	if _, err := Sums(all); err == nil {
		t.Error("a negative total is no error")
	}
	if _, err := NewBatch(nil, false, quiet(), opened); err == nil {
		t.Error("an empty batch opens")
	}
}

func TestGoldensOfABatch(t *testing.T) {
	for _, size := range [][2]int{{116, 34}, {76, 22}} {
		for _, n := range []int{3, 14} {
			for _, live := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d-%t-%dx%d", n, live, size[0], size[1]), func(t *testing.T) {
					d, err := NewBatch(basket(n), live, quiet(), opened)
					if err != nil {
						t.Fatal(err)
					}
					w, h := d.Size(size[0], size[1])
					golden.RequireEqual(t, plain(d.View(ink(), w, h)))
				})
			}
		}
	}
}
