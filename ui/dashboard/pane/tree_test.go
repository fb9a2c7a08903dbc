package pane

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"tillwatch/api"
	"tillwatch/api/account"
)

const orderBody = `{"id":"a","buyer":{"firstName":"Ann","email":"ann@example.com","country":"US","note":"pay with tok_live_1234"},` +
	`"paymentMethod":{"type":"vault_token","vaultToken":"tok_live_1234","email":"ann@example.com"},"apiKey":"sk_1",` +
	`"items":[{"n":1},{"n":2}],"empty":{},"message":"hello tok_live_1234"}`

func detailOf(body string) *Detail {
	in := wholeOf("a", api.Completed)
	in.Latest.Raw = []byte(body)
	in.Latest.Buyer = &api.Buyer{FirstName: "Ann", LastName: "Lee", Email: "ann@example.com", Phone: "+1 555", City: "Austin"}
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 80, H: 60})
	p.SetFocus(true)
	p.Open(Subject{Kind: OfIntent, ID: "a"})
	p.SetFacts(Facts{Intent: in})
	return p
}

// at puts the cursor on the line that holds a text.
func (p *Detail) at(t *testing.T, want string) {
	t.Helper()
	lines := strings.Split(text(p.Lines()), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, want) })
	if i < 0 {
		t.Fatalf("no %q in:\n%s", want, strings.Join(lines, "\n"))
	}
	p.Click(0, i)
	p.Lines()
}

func TestPersonalDataIsShownOnRequestAndTokensNever(t *testing.T) {
	p := detailOf(orderBody)
	secrets := []string{"tok_live", "sk_1"}
	personal := []string{`"Ann"`, "ann@example.com", "Ann Lee", "+1 555", "PERSONAL DATA SHOWN"}
	check := func(what string, shown bool) {
		t.Helper()
		got := text(p.Lines())
		for _, s := range secrets {
			if strings.Contains(got, s) {
				t.Errorf("%s: %q is shown:\n%s", what, s, got)
			}
		}
		for _, s := range personal {
			if strings.Contains(got, s) != shown {
				t.Errorf("%s: %q is shown: %t:\n%s", what, s, !shown, got)
			}
		}
	}
	check("at first", false)
	p.Reveal(true)
	check("on request", true)
	if got := text(p.Lines()); strings.Count(got, "ann@example.com") != 2 {
		t.Errorf("the address is to be shown with the buyer and in the body, not with the payment:\n%s", got)
	}
	p.SetFocus(false)
	check("after the focus went elsewhere", false)
	p.SetFocus(true)
	check("and came back", false)
	p.Reveal(true)
	p.Open(Subject{Kind: OfIntent, ID: "b"})
	p.Open(Subject{Kind: OfIntent, ID: "a"})
	p.SetFacts(Facts{Intent: detailOf(orderBody).facts.Intent})
	check("after something else was opened", false)
}

func TestTheValueOfALineCanBeCopied(t *testing.T) {
	p := detailOf(orderBody)
	cases := []struct {
		line, want string
		private    bool
	}{{`"id": "a"`, "a", false}, {`"vaultToken"`, "", false}, {`"message"`, "", false}, {`"items"`, "", false}, {"merchant", "acme.example", false}}
	for _, c := range cases {
		p.at(t, c.line)
		if got, private := p.Value(); got != c.want || private != c.private {
			t.Errorf("%s: %q, private %t", c.line, got, private)
		}
	}
	p.Reveal(true)
	p.at(t, `"email": "ann`)
	if got, private := p.Value(); got != "ann@example.com" || !private {
		t.Errorf("revealed: %q, private %t", got, private)
	}
}

func FuzzTree(f *testing.F) {
	f.Add(orderBody)
	f.Add(`{"buyer":{"a":"\u001b]52;c;x\u0007","b":[1,{"token":"secretsecret"}],"c":"secretsecret"}}`)
	f.Add(`[{"a":1,"a":2},null,"\u202e"]`)
	f.Fuzz(func(t *testing.T, body string) {
		body = body[:min(len(body), 1<<16)]
		hidden := treeOf([]byte(body), false)
		shown := treeOf([]byte(body), true)
		if len(hidden) != len(shown) {
			t.Fatalf("%d nodes, %d when revealed", len(hidden), len(shown))
		}
		for i, n := range shown {
			if n.key != hidden[i].key || n.depth != hidden[i].depth {
				t.Fatalf("node %d is another one when revealed", i)
			}
			if strings.ContainsFunc(n.key+n.value, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
				t.Fatalf("a control character in %q", n.value)
			}
		}
	})
}

func TestAShipmentsTrackingIsALink(t *testing.T) {
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 80, H: 30})
	p.Open(Subject{Kind: OfShipment, ID: "s"})
	p.SetFacts(Facts{Shipment: &account.Shipment{ID: "s", Latest: &api.Shipment{Status: api.Shipped, Tracking: &api.Tracking{Number: "42", URL: "https://dhl.example/42"}}}})
	if got := strings.Join(p.Lines(), "\n"); !strings.Contains(got, "\x1b]8;;https://dhl.example/42\x1b\\") {
		t.Error("the tracking address is no link")
	}
}

func TestTheCursorOfADetailIsInViewHoweverItIsScrolled(t *testing.T) {
	small, large := Place{W: 40, H: 9}, Place{W: 40, H: 30}
	for _, notches := range []int{-3, 0, 3, 21, 99} {
		p := detailOf(orderBody)
		for step, do := range []func(){
			func() { p.SetPlace(small) }, func() { p.Wheel(0, 0, notches) }, func() { p.SetPlace(large) }, func() { p.SetPlace(small) },
		} {
			do()
			if got := text(p.Lines()); strings.Count(got, "▌") != 2 { // the title has one, too
				t.Errorf("%d notches, after step %d the cursor is out of view:\n%s", notches, step, got)
			}
		}
	}
}
