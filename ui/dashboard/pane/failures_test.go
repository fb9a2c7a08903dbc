package pane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// failedOf is an intent that failed at a time, of a merchant, for a reason and for so
// many cents; nothing is known where one is empty.
func failedOf(n int, since time.Duration, merchant, code string, cents int64) *account.Intent {
	in := *intentOf(fmt.Sprintf("ci_%03d", n), api.Failed, since)
	in.Merchant = api.Text(merchant)
	if code != "" {
		in.Failure = &api.FailureReason{Code: api.FailureCode(code)}
	}
	if cents > 0 {
		in.Total = &api.Money{Currency: "USD", Subunits: cents}
	}
	return &in
}

func failuresOf(w, h int, all ...*account.Intent) (*Failures, *Intents) {
	shown := intents(160, 30)
	p := NewFailures(shown.look, shown)
	p.SetPlace(Place{W: w, H: h})
	p.SetFocus(true)
	c := &account.Changes{Intents: all, Summary: account.Summary{Known: noon.Add(-time.Hour)}}
	shown.Apply(c, true)
	p.Apply(c, true)
	return p, shown
}

func badDay() []*account.Intent {
	return []*account.Intent{
		failedOf(1, time.Minute, "acme.example", "product_out_of_stock", 1050),
		failedOf(2, 2*time.Hour, "acme.example", "product_out_of_stock", 99950),
		failedOf(3, 30*time.Hour, "acme.example", "payment_declined", 0),
		failedOf(4, 5*time.Minute, "not-acme.example", "payment_declined", 20000),
		failedOf(5, 50*time.Hour, "", "", 0),
		failedOf(6, 59*time.Minute, `"Quoted", Inc`, "checkout_intent_expired", 100),
		intentOf("ci_007", api.Completed, time.Minute),
	}
}

// TestAGroupLeadsToWhatItCounts: whatever group is entered, in whatever time, the
// filter finds exactly as many.
func TestAGroupLeadsToWhatItCounts(t *testing.T) {
	p, shown := failuresOf(160, 40, badDay()...)
	entered := 0
	for range failureSpans {
		p.Lines()
		for side := range p.groups {
			p.side = side
			for at, g := range p.groups[side].rows {
				p.groups[side].put(at)
				filter, why := p.RowFilter()
				if (filter == "") != (why != "") || (filter == "") != (g.name == "merchant unknown") {
					t.Errorf("%s: filter %q, why %q", g.name, filter, why)
				}
				if filter == "" {
					continue
				}
				f := ParseFilter(filter, shown.Fields())
				shown.SetFilter(f)
				if found, _ := shown.Matches(); f.Wrong != "" || found != g.n {
					t.Errorf("%s counts %d, %s finds %d: %s", g.name, g.n, filter, found, f.Wrong)
				}
				entered++
			}
		}
		p.NextSpan()
	}
	if entered < 15 {
		t.Errorf("only %d groups were entered", entered)
	}
}

func TestFailuresShowHowManyOfWhatAndForHowMuch(t *testing.T) {
	p, _ := failuresOf(160, 40, badDay()...)
	for _, c := range []struct {
		title string
		rows  []string
	}{
		{"FAILURES 4 · last 24h (w)", []string{"out of stock 2 50 % 1m 1,010.00 USD", "payment declined 1 25 % 5m 200.00 USD", "acme.example 2 50 % 1m 1,010.00 USD"}},
		{"FAILURES 6 · all kept (w)", []string{"payment declined 2 33 % 5m ≥200.00 USD", "reason unknown 1 17 % 2d –", "acme.example 3 50 % 1m ≥1,010.00 USD", "merchant unknown 1 17 % 2d –"}},
		{"FAILURES 3 · last 60m (w)", []string{"out of stock 1 33 % 1m 10.50 USD", "expired 1 33 % 59m 1.00 USD"}},
	} {
		p.look.Keys.Span = "w"
		got := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if r == '━' || r == '╸' || r == '▌' {
				return ' '
			}
			return r
		}, text(p.Lines()))), " ")
		for _, want := range append(c.rows, c.title) {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, text(p.Lines()))
			}
		}
		p.NextSpan()
	}
}

// TestAFailureThatNobodySawIsInNoSpan: it is as old as the read that found it, or as old as
// the intent, or between.
func TestAFailureThatNobodySawIsInNoSpan(t *testing.T) {
	found := *failedOf(1, time.Minute, "acme.example", "payment_declined", 0)
	found.FoundEnded, found.CreatedAt = true, noon.Add(-48*time.Hour)
	p, shown := failuresOf(160, 40, &found, failedOf(2, time.Minute, "acme.example", "payment_declined", 0))
	for _, c := range []struct{ want, row string }{
		{"FAILURES 1 · last 24h () · 1 at an unknown time", "100 %"}, {"FAILURES 2 · all kept ()", "100 %"}, {"FAILURES 1 · last 60m () · 1 at an unknown time", "100 %"},
	} {
		if got := text(p.Lines()); !strings.Contains(got, c.want) || !strings.Contains(got, c.row) {
			t.Errorf("no %q in\n%s", c.want, got)
		}
		p.NextSpan()
	}
	for filter, want := range map[string]int{"age<10m": 1, "age>1s": 2, "age>2m": 0, "age<3d": 2, "!age<10m": 1} {
		shown.SetFilter(ParseFilter(filter, shown.Fields()))
		if n, _ := shown.Matches(); n != want {
			t.Errorf("%s finds %d", filter, n)
		}
	}
	alone, _ := failuresOf(80, 21, &found)
	if got := text(alone.Lines()); !strings.Contains(got, "none failed in the last 24h") || !strings.Contains(got, "1 failed at an unknown time") {
		t.Errorf("a failure at an unknown time reads as one of long ago:\n%s", got)
	}
	found.CreatedAt = noon.Add(-2 * time.Hour)
	young, _ := failuresOf(160, 40, &found)
	for _, want := range []string{"FAILURES 1 · last 24h ()", "FAILURES 1 · all kept ()", "1 failed at an unknown time"} {
		if got := text(young.Lines()); !strings.Contains(got, want) {
			t.Errorf("made two hours ago, no %q in\n%s", want, got)
		}
		young.NextSpan()
	}
}

func TestSeveralCurrenciesAreNotAddedUp(t *testing.T) {
	euros := *failedOf(1, time.Minute, "acme.example", "expired", 100)
	euros.Total = &api.Money{Currency: "EUR", Subunits: 200}
	p, _ := failuresOf(160, 40, &euros, failedOf(2, time.Minute, "acme.example", "expired", 123456789))
	if got := text(p.Lines()); !strings.Contains(got, "value lost 2.00 EUR + 1,234,567.89 USD") || strings.Count(got, "2 currencies") != 2 {
		t.Errorf("the sums are not told apart:\n%s", got)
	}
}

func TestWithoutFailuresTheViewSaysWhatIsKnown(t *testing.T) {
	old := failedOf(1, 30*time.Hour, "acme.example", "expired", 100)
	sound := intentOf("ci_002", api.Completed, time.Minute)
	hint, told := *intentOf("ci_003", "", time.Minute), *intentOf("ci_004", api.PlacingOrder, time.Minute)
	hint.Certainty, hint.ReadAt = account.Hinted, time.Time{}
	told.Certainty, told.ReadAt = account.Reported, time.Time{}
	for _, c := range []struct {
		name string
		all  []*account.Intent
		span int
		want []string
	}{
		{"some are not read", []*account.Intent{sound, &hint, &told}, 1, []string{"none failed; known: 1 intent, 2 unread"}},
		{"some are not read, of late", []*account.Intent{sound, &hint}, 0, []string{"none failed in the last 24h; known: 1 intent, 1 unread"}},
		{"none is read", []*account.Intent{&hint}, 0, []string{"none failed in the last 24h; known: none, 1 unread"}},
		{"nothing is known", nil, 0, []string{"no checkout intents"}},
		{"none failed", []*account.Intent{sound}, 1, []string{"none failed; known: 1 intent"}},
		{"none failed of late", []*account.Intent{sound, old}, 0, []string{"none failed in the last 24h; known: 2 intents", "1 failed before"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := failuresOf(80, 21, c.all...)
			p.span = c.span
			for _, want := range c.want {
				if got := text(p.Lines()); !strings.Contains(got, want) || strings.Contains(got, "BY REASON") {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if _, why := p.RowFilter(); why != "nothing under the cursor" {
				t.Errorf("of none: %q", why)
			}
			p.Move(Down)
			p.Click(3, 5)
		})
	}
}

func TestTheCursorStaysOnItsGroup(t *testing.T) {
	p, shown := failuresOf(80, 24, badDay()...)
	p.Lines()
	for _, c := range []struct {
		steps []Step
		want  string
	}{
		{[]Step{Down}, "expired"}, {[]Step{Last, Down}, "acme.example"}, {[]Step{Last}, "not-acme.example"}, {[]Step{First, Up}, "payment declined"},
		{[]Step{Right}, "acme.example"}, {[]Step{PageDown}, "not-acme.example"}, {[]Step{Left}, "payment declined"}, {[]Step{PageUp}, "out of stock"},
	} {
		for _, s := range c.steps {
			p.Move(s)
		}
		if g := p.group(); g.name != c.want {
			t.Errorf("after %v the cursor is on %s, want %s", c.steps, g.name, c.want)
		}
	}
	p.Move(Last)
	before := p.groups[byReason].rows[0]
	if p.Lines(); p.groups[byReason].rows[0] != before {
		t.Error("a key counted everything anew")
	}
	c := &account.Changes{Intents: []*account.Intent{failedOf(8, 0, "b.example", "payment_declined", 0), failedOf(9, 0, "b.example", "payment_declined", 0)}}
	shown.Apply(c, false)
	p.Apply(c, false)
	if p.Lines(); p.group().name != "payment declined" || p.groups[byReason].rows[0].name != "payment declined" {
		t.Errorf("the cursor is on %s once its group is the first", p.group().name)
	}
}

func TestAHeldCursorStaysOnItsGroup(t *testing.T) {
	p, shown := failuresOf(160, 40, badDay()...)
	p.Lines()
	p.Hold(false)
	first := p.group().name
	more := func(code string, from int) {
		var all []*account.Intent
		for i := range 5 {
			all = append(all, failedOf(from+i, time.Minute, "acme.example", code, 0))
		}
		c := &account.Changes{Intents: all, Summary: account.Summary{Known: noon.Add(-time.Hour)}}
		shown.Apply(c, false)
		p.Apply(c, false)
		p.Lines()
	}
	more("checkout_intent_expired", 100)
	if got := p.group(); got.name != first || p.groups[byReason].rows[0] == got {
		t.Errorf("after others became more the cursor is on %s, want %s", got.name, first)
	}
	gone := &account.Changes{GoneIntents: []api.ID{"ci_001", "ci_002"}, Summary: account.Summary{Known: noon.Add(-time.Hour)}}
	shown.Apply(gone, false)
	p.Apply(gone, false)
	neighbour := p.group().name
	more("product_out_of_stock", 200)
	if got := p.group().name; neighbour == first || got != neighbour {
		t.Errorf("once its group was gone the cursor went to %s, and with the group back to %s", neighbour, got)
	}
}
