package pane

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func look() *Look {
	return &Look{Brush: paint.NewBrush(themes.Theme{}, false), Now: noon, Location: time.UTC, Health: Health{Started: true}}
}

func text(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

func TestAgesInColumnsHaveTwoFigures(t *testing.T) {
	cases := []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {0, "0s"}, {9 * time.Second, "9s"}, {59 * time.Second, "50s"}, {time.Minute, "1m"}, {59*time.Minute + 59*time.Second, "59m"},
		{time.Hour, "1h"}, {47 * time.Hour, "47h"}, {48 * time.Hour, "2d"}, {99 * 24 * time.Hour, "99d"}, {400 * 24 * time.Hour, "99d"},
	}
	for _, c := range cases {
		if got := Past(c.d); got != c.want {
			t.Errorf("Past(%v) = %s, want %s", c.d, got, c.want)
		}
	}
}

func TestDaysAreNamedAsPeopleDo(t *testing.T) {
	l := look()
	cases := []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, ""}, {noon.Add(11 * time.Hour), "today"}, {noon.Add(13 * time.Hour), "tomorrow"},
		{noon.AddDate(0, 0, 3), "Nov 24"}, {noon.AddDate(0, 0, -1), "Nov 20"},
	}
	for _, c := range cases {
		if got := l.day(c.at); got != c.want {
			t.Errorf("day(%v) = %q, want %q", c.at, got, c.want)
		}
	}
}

func TestTheSparklineIsHonestAboutWhatIsNotKnown(t *testing.T) {
	b := &quota.Bucket{Limit: 10, History: []quota.Sample{
		{At: noon.Add(-2 * time.Second), Known: true}, {At: noon.Add(-time.Second), Known: true, Own: 3, Others: 2}, {At: noon, Known: true, Own: 20},
	}}
	l := paint.NewLine(look().Brush).Start(60)
	sparkline(l, b.History, b.Limit, noon, time.Minute, 60)
	if got, want := ansi.Strip(l.String()), strings.Repeat("·", 57)+"▁▅█"; got != want {
		t.Errorf("sparkline %q, want %q", got, want)
	}
}

func TestAGaugeIsFullOnlyWhenNothingIsLeft(t *testing.T) {
	cases := []struct {
		left, limit int64
		want        string
	}{{10, 10, "────"}, {9, 10, "━───"}, {5, 10, "━━──"}, {1, 10, "━━━─"}, {0, 10, "━━━━"}, {-1, 10, "━━━━"}, {99, 10, "────"}, {1, 0, "────"}}
	for _, c := range cases {
		l := paint.NewLine(look().Brush).Start(4)
		gauge(l, c.left, c.limit, 4)
		if got := ansi.Strip(l.String()); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.left, c.limit, got, c.want)
		}
	}
}

func TestAQuotaOfTheAccountIsShownAsAnEstimate(t *testing.T) {
	cases := []struct {
		width int
		want  []string
	}{
		{110, []string{"≤19 / 50", "at least 31 made in 24h", "≤0 / 10", "at least 10 placing"}},
		{59, []string{"≤19 / 50 31 made", "≤0 / 10 10 placing"}},
		{40, []string{"≤19 / 50", "≤0 / 10"}},
	}
	for _, c := range cases {
		p := NewQuota(look())
		p.SetPlace(Place{W: c.width, H: 10})
		p.Apply(&account.Changes{Summary: account.Summary{Day: account.DayCount{Seen: 31, Limit: 50}, Agents: account.AgentCount{Placing: 10, Limit: 10}}}, true)
		got := strings.Join(strings.Fields(text(p.Lines())), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%d columns: no %q in:\n%s", c.width, want, got)
			}
		}
	}
}

func TestAQuotaSaysWhenItsReportIsOver(t *testing.T) {
	cases := []struct {
		name   string
		bucket quota.Bucket
		want   string
	}{
		{"in its window", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon}, "reads 3 / 5 1s"},
		{"its window is over", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon.Add(-2 * time.Second)}, "reads ≤5 / 5 reset since"},
		{"long over", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon.Add(-time.Hour)}, "reads ≤5 / 5 reset since"},
		{"no end of the window was told", quota.Bucket{Remaining: 3, ObservedAt: noon.Add(-time.Minute)}, "reads 3 / 5 told 1m ago"},
		{"its forecast went with its window", quota.Bucket{Exhausted: time.Millisecond, Reset: time.Second, ObservedAt: noon.Add(-2 * time.Second)}, "reads ≤5 / 5 reset since"},
		{"nothing is left of it", quota.Bucket{Reset: time.Minute, ObservedAt: noon}, "reads 0 / 5 1m"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, width := range []int{50, 110} {
				p := NewQuota(look())
				p.SetPlace(Place{W: width, H: 10})
				c.bucket.Class, c.bucket.Limit, c.bucket.Window = quota.Reads, 5, time.Second
				p.Apply(&account.Changes{Summary: account.Summary{Quota: []quota.Bucket{c.bucket}}}, true)
				got := strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(text(p.Lines()), "━", " "), "─", " ")), " ")
				if !strings.Contains(got, c.want) {
					t.Errorf("%d columns: no %q in:\n%s", width, c.want, got)
				}
			}
		})
	}
}

// One word counts the agents, in every width, and none of it is cut.
func TestTheAgentsThatWorkAreSaidToBePlacing(t *testing.T) {
	for _, width := range []int{56, 59, 66, 72, 110} {
		for _, n := range []int{0, 10} {
			p := NewQuota(look())
			p.SetPlace(Place{W: width, H: 10})
			p.Apply(&account.Changes{Summary: account.Summary{Agents: account.AgentCount{Placing: n, Limit: 10}, List: account.ListStatus{State: account.ListWhole}}}, true)
			if got, want := text(p.Lines()), strconv.Itoa(n)+" placing"; !strings.Contains(got, want) {
				t.Errorf("%d columns: no %q in:\n%s", width, want, got)
			}
		}
	}
}

func TestTheDayIsShownAsFarAsItsLimitIsKnown(t *testing.T) {
	spent := account.DayCount{Seen: 70, Today: 50, Calendar: true, Limit: 50, Assumed: true, Spent: noon.Add(-time.Hour), Free: noon.Add(3*time.Hour + 50*time.Minute), Exhausted: 1}
	for _, c := range []struct {
		name  string
		width int
		day   account.DayCount
		want  string
	}{
		{"a limit that was passed", 110, account.DayCount{Seen: 114}, "114 made, limit unknown"},
		{"in little room", 40, account.DayCount{Seen: 114}, "114 made, limit unknown"},
		{"none left", 110, spent, "≤0 / ~50 used up since 11:00, the first is back by 15:50"},
		{"none left, in little room", 59, spent, "≤0 / ~50 by 15:50"},
		{"a day of the calendar", 110, account.DayCount{Seen: 60, Today: 20, Calendar: true, Limit: 50}, "≤30 / 50 at least 20 made since midnight UTC"},
		{"told", 110, account.DayCount{Seen: 4, Limit: 60, Told: true, Left: 20, At: noon.Add(-time.Minute), Resets: noon.Add(time.Hour)}, "≤20 / 60 reported 1m ago"},
	} {
		p := NewQuota(look())
		p.SetPlace(Place{W: c.width, H: 10})
		p.Apply(&account.Changes{Summary: account.Summary{Day: c.day, Agents: account.AgentCount{Placing: 14}}}, true)
		got := strings.Join(strings.Fields(strings.ReplaceAll(text(p.Lines()), "─", "")), " ")
		if !strings.Contains(got, c.want) || !strings.Contains(got, "14 placing, limit unknown") {
			t.Errorf("%s: no %q in:\n%s", c.name, c.want, text(p.Lines()))
		}
	}
}

func TestEveryClassHasItsRowFromTheBeginning(t *testing.T) {
	p := NewQuota(look())
	p.SetPlace(Place{W: 90, H: 10})
	row := func(name string) int {
		for y, line := range strings.Split(text(p.Lines()), "\n") {
			if strings.Contains(line, name) {
				return y
			}
		}
		return -1
	}
	reads, mutations, lookup := row("reads"), row("mutations"), row("lookup")
	if reads < 0 || mutations != reads+1 || lookup != reads+2 || !strings.Contains(text(p.Lines()), "not called yet") {
		t.Fatalf("before any answer:\n%s", text(p.Lines()))
	}
	p.Apply(&account.Changes{Requests: []api.Exchange{{Class: quota.Lookup, Status: 200}}, Summary: account.Summary{Quota: []quota.Bucket{
		{Class: quota.Mutations, Policy: "a", Limit: 5, ObservedAt: noon}, {Class: "extra", Policy: "a", Limit: 5, ObservedAt: noon}}}}, true)
	if row("mutations") != mutations || row("lookup") != lookup || row("extra") != lookup+1 || !strings.Contains(text(p.Lines()), "no limit reported") {
		t.Errorf("rows have moved:\n%s", text(p.Lines()))
	}
}

func intentOf(id string, state api.IntentState, since time.Duration) *account.Intent {
	return &account.Intent{ID: api.ID(id), State: state, Certainty: account.Verified, Since: noon.Add(-since), CreatedAt: noon.Add(-since),
		ReadAt: noon, Product: api.Text("Product " + id), Merchant: "acme.example"}
}

func wholeOf(id string, state api.IntentState) *account.IntentDetail {
	return &account.IntentDetail{Intent: *intentOf(id, state, time.Minute), Latest: &api.Intent{ID: api.ID(id), State: state}}
}

func intents(w, h int, all ...*account.Intent) *Intents {
	p := NewIntents(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: w, H: h})
	p.Apply(&account.Changes{Intents: all}, true)
	return p
}

func TestTheCursorStaysOnTheScreenWhenAPaneGetsARule(t *testing.T) {
	var all []*account.Intent
	for i := range 30 {
		all = append(all, intentOf(fmt.Sprintf("ci_%02d", i), api.AwaitingConfirmation, time.Minute))
	}
	p := intents(80, 20, all...)
	p.SetFocus(true)
	p.SetPlace(Place{W: 80, H: 12, Stacked: true})
	p.Lines()
	p.SetPlace(Place{W: 80, H: 12}) // another arrangement, in which the pane has the same size
	for range 15 {
		p.Move(Down)
		if lines := text(p.Lines()); !strings.Contains(lines, "\n▌") {
			t.Fatalf("no row stands out, and the cursor is on %s:\n%s", p.Subject().ID, lines)
		}
	}
}

func TestCardsSayWhatIsSpecial(t *testing.T) {
	failed := intentOf("f", api.Failed, time.Minute)
	failed.Failure = &api.FailureReason{Code: "product_out_of_stock"}
	reported := intentOf("r", api.Completed, time.Minute)
	reported.Certainty = account.Reported
	gone := intentOf("g", api.PlacingOrder, time.Minute)
	gone.Missing = true
	hinted := intentOf("n", "", time.Minute)
	hinted.Certainty = account.Hinted
	cases := []struct {
		name string
		in   *account.Intent
		want string
	}{
		{"time left", intentOf("a", api.AwaitingConfirmation, 39*time.Minute), "━╸──────── in  6m"},
		{"no time left", intentOf("a", api.AwaitingConfirmation, 46*time.Minute), "expired"},
		{"slow", intentOf("p", api.PlacingOrder, 7*time.Minute), "slow"},
		{"failed", failed, "out of stock"},
		{"reported", reported, "unread"},
		{"gone", gone, "gone (404)"},
		{"unlisted state", intentOf("u", "requires_action", time.Minute), "requires action"},
		{"not read yet", hinted, "1 unread, 1 of unknown state"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := text(intents(180, 12, c.in).Lines()); !strings.Contains(got, c.want) {
				t.Errorf("no %q in:\n%s", c.want, got)
			}
		})
	}
}

func TestSlowIsWhatIsSlowForThisAccount(t *testing.T) {
	pace := func(count int, p95 time.Duration) map[api.IntentState]account.Pace {
		return map[api.IntentState]account.Pace{api.PlacingOrder: {Count: count, P50: p95 / 2, P95: p95}}
	}
	cases := []struct {
		name string
		pace map[api.IntentState]account.Pace
		stay time.Duration
		want bool
	}{
		{"a quick account", pace(20, 30*time.Second), time.Minute, true},
		{"as quick as the account is", pace(20, 30*time.Second), 20 * time.Second, false},
		{"an account that takes its time", pace(20, time.Hour), 20 * time.Minute, false},
		{"too little history", pace(3, 30*time.Second), time.Minute, false},
		{"too little history, and long by any measure", pace(3, time.Hour), 20 * time.Minute, true},
		{"no history", nil, time.Minute, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := intents(180, 12)
			p.Apply(&account.Changes{Intents: []*account.Intent{intentOf("a", api.PlacingOrder, c.stay)}, Summary: account.Summary{Pace: c.pace}}, true)
			if got := strings.Contains(text(p.Lines()), "slow"); got != c.want {
				t.Errorf("marked slow: %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheDetailOfAnEventSaysThatItsBodyIsNotKept(t *testing.T) {
	e := &account.Event{ID: "evt_1", Type: api.OfferRetrieved, SourceType: api.SourceIntent, SourceID: "a"}
	for _, body := range []string{"", `{"id":"evt_1"}`} {
		e.Raw = []byte(body)
		p := NewDetail(look(), api.ConfirmWindow)
		p.SetPlace(Place{W: 80, H: 30})
		p.Open(Subject{Kind: OfEvent, ID: e.ID})
		p.SetFacts(Facts{Event: e})
		if got := strings.Contains(text(p.Lines()), "tillwatch events ID --raw"); got != (body == "") {
			t.Errorf("with the body %q, it says where to get it: %v", body, got)
		}
	}
}

func TestAChangedCardGlowsForASecond(t *testing.T) {
	p := intents(180, 12, intentOf("a", api.RetrievingOffer, time.Minute))
	p.look.Brush = paint.NewBrush(themes.Theme{Glow: color.RGBA{R: 1, G: 2, B: 3, A: 255}}, false)
	glows := func() bool { return strings.Contains(strings.Join(p.Lines(), ""), "48;2;1;2;3") }
	if glows() {
		t.Error("the first picture glows")
	}
	p.Apply(&account.Changes{Intents: []*account.Intent{intentOf("a", api.AwaitingConfirmation, 0)}}, false)
	if !glows() {
		t.Error("a card that changed does not glow")
	}
	p.look.Now = noon.Add(time.Second)
	if p.Invalidate(); !glows() {
		t.Error("it does not glow for a whole second")
	}
	p.look.Now = noon.Add(2 * time.Second)
	if p.Invalidate(); glows() {
		t.Error("it still glows after two seconds")
	}
}

func TestTheDetailHidesBuyerAndToken(t *testing.T) {
	in := wholeOf("a", api.Completed)
	in.Latest.Buyer = &api.Buyer{FirstName: "Ann", Email: "ann@example.com"}
	in.Latest.Payment = &api.PaymentMethod{Type: api.VaultToken}
	in.Latest.Raw = []byte(`{"id":"a","buyer":{"firstName":"Ann","email":"ann@example.com"},"paymentMethod":{"type":"vault_token","vault_token":{"token":"tok_live_1"}}}`)
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 80, H: 60})
	p.Open(Subject{Kind: OfIntent, ID: "a"})
	p.SetFacts(Facts{Intent: in})
	got := text(p.Lines())
	for _, secret := range []string{"Ann", "ann@", "tok_live"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is shown:\n%s", secret, got)
		}
	}
	if !strings.Contains(got, "[masked]") || !strings.Contains(got, "RAW · masked") {
		t.Errorf("no masked body:\n%s", got)
	}
}

func TestOnlyAPaymentWithATokenHidesOne(t *testing.T) {
	for token, want := range map[string]bool{"": false, "tok_live_1": true} {
		in := wholeOf("a", api.Completed)
		in.Latest.Payment = &api.PaymentMethod{Type: api.Drawdown, Token: api.NewSecret(token)}
		p := NewDetail(look(), api.ConfirmWindow)
		p.SetPlace(Place{W: 80, H: 60})
		p.Open(Subject{Kind: OfIntent, ID: "a"})
		p.SetFacts(Facts{Intent: in})
		if got := text(p.Lines()); strings.Contains(got, "token hidden") != want {
			t.Errorf("token %q:\n%s", token, got)
		}
	}
}

func TestTheDetailScrollsToItsEnd(t *testing.T) {
	in := wholeOf("a", api.Completed)
	for i := range 40 {
		in.Timeline = append(in.Timeline, &account.Moment{What: account.NotFound, When: noon.Add(time.Duration(i) * time.Second)})
	}
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 60, H: 12})
	p.Open(Subject{Kind: OfIntent, ID: "a"})
	p.SetFacts(Facts{Intent: in})
	if got := text(p.Lines()); !strings.Contains(got, "more lines") {
		t.Errorf("nothing says that there is more:\n%s", got)
	}
	p.Move(Last)
	if got := text(p.Lines()); !strings.Contains(got, "12:00:39") || strings.Contains(got, "more lines") {
		t.Errorf("the end is not in view:\n%s", got)
	}
}

func TestTheQuotaIsSortedByWhatIsLeftAndByWhoEatsIt(t *testing.T) {
	p := NewQuota(look())
	p.SetPlace(Place{W: 120, H: 12})
	p.Apply(&account.Changes{Summary: account.Summary{Quota: []quota.Bucket{
		{Class: quota.Reads, Limit: 10, Remaining: 8, Reset: time.Hour, ObservedAt: noon, Own: 2, Others: 0.5, Rejected: 1},
		{Class: quota.Lookup, Limit: 10, Remaining: 3, Reset: time.Hour, ObservedAt: noon, Own: 0.1, Others: 4, Rejected: 7},
	}, Day: account.DayCount{Seen: 1, Limit: 50}}}, true)
	order := func() string {
		var names []string
		for _, line := range strings.Split(text(p.Lines()), "\n")[2:] {
			if f := strings.Fields(line); len(f) > 0 && f[0] != "SPENT" {
				names = append(names, f[0])
			}
		}
		return strings.Join(names, " ")
	}
	cases := []struct {
		reverse    bool
		name, want string
	}{
		{false, "left ↑", "lookup reads mutations today"},
		{true, "left ↓", "mutations reads lookup today"},
		{false, "own ↓", "reads lookup mutations today"},
		{false, "others ↓", "lookup reads mutations today"},
		{false, "refused ↓", "lookup reads mutations today"},
		{false, "", "reads mutations lookup today"},
		{true, "class ↓", "lookup mutations reads today"},
	}
	for _, c := range cases {
		if name, got := p.Sort("", c.reverse), order(); name != c.name || got != c.want {
			t.Errorf("sorted by %q: %s, want by %q: %s", name, got, c.name, c.want)
		}
	}
	p.Sort("", false)
	if title := strings.Split(text(p.Lines()), "\n")[0]; !strings.Contains(title, "QUOTA · by left ↑") {
		t.Errorf("the title does not tell the order: %s", title)
	}
}

func TestTheQuotaInOneLineShowsWhatIsAssumed(t *testing.T) {
	cases := []struct {
		name  string
		day   account.DayCount
		width int
		want  string
	}{
		{"told", account.DayCount{Seen: 31, Limit: 50}, 80, "today ≤19/50"},
		{"assumed", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 80, "today ≤19/~50"},
		{"with just enough room", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 22, "today ≤19/~50"},
		{"without room", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 21, ""},
		{"of thousands without room", account.DayCount{Seen: 100, Limit: 2000}, 22, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := NewQuota(look())
			p.SetPlace(Place{W: c.width, H: 1})
			p.Apply(&account.Changes{Summary: account.Summary{Day: c.day}}, true)
			if got := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text(p.Lines())), "QUOTA")); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAChangeThatNobodySawHasNoAge(t *testing.T) {
	found := noon.Add(-7 * time.Minute)
	in := &account.Intent{ID: "ci_1", State: api.Completed, Certainty: account.Verified, Product: "Mug", Since: found, ReadAt: found, FoundEnded: true}
	seen := *in
	seen.EndedAt = found
	awaiting := account.Intent{ID: "ci_1", State: api.AwaitingConfirmation, Certainty: account.Verified, Product: "Mug", Since: found, ReadAt: found}
	long := awaiting
	long.Found = true
	for _, width := range []int{80, 200} {
		for one, aged := range map[*account.Intent]bool{in: false, &seen: true, &awaiting: true, &long: false} {
			p := NewIntents(look(), api.ConfirmWindow)
			p.SetPlace(Place{W: width, H: 20})
			p.Apply(&account.Changes{Intents: []*account.Intent{one}}, true)
			lines := strings.Split(text(p.Lines()), "\n")
			row := lines[slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Mug") })]
			if strings.Contains(row, "7m") != aged {
				t.Errorf("%d cells, seen %t: %s", width, aged, row)
			}
		}
	}
}

func TestWhatIsNotReadYetWaitsBelowWhatIsToBeConfirmedNext(t *testing.T) {
	p := NewIntents(look(), 45*time.Minute)
	p.SetPlace(Place{W: 160, H: 20})
	reported := &account.Intent{ID: "ci_new", State: api.AwaitingConfirmation, Certainty: account.Reported, Since: noon}
	known := func(id api.ID, age time.Duration) *account.Intent {
		return &account.Intent{ID: id, State: api.AwaitingConfirmation, Certainty: account.Verified, CreatedAt: noon.Add(-age), Since: noon.Add(-age), ReadAt: noon}
	}
	p.Apply(&account.Changes{Intents: []*account.Intent{reported, known("ci_later", time.Minute), known("ci_sooner", 40*time.Minute)}}, true)
	got := text(p.Lines())
	if s, l, n := strings.Index(got, "ci_sooner"), strings.Index(got, "ci_later"), strings.Index(got, "ci_new"); s < 0 || s > l || l > n {
		t.Errorf("the lane is not in the order in which windows close:\n%s", got)
	}
	if got := p.Subject().ID; got != "ci_sooner" {
		t.Errorf("the cursor is on %s, want the one whose window closes first", got)
	}
}

func noIntent(api.ID) (*account.Intent, bool) { return nil, false }
