package pane

import (
	"image/color"
	"slices"
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

func TestAnEstimatedDayIsTheSameEverywhere(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		at   time.Time
		zone int // hours from UTC
		want string
	}{
		{"a day, in Greenwich", day, 0, "Nov 24"},
		{"a day, in California", day, -8, "Nov 24"},
		{"a day, in Japan", day, 9, "Nov 24"},
		{"a moment, in California", day.Add(2 * time.Hour), -8, "Nov 23"},
		{"a moment, in Japan", day.Add(20 * time.Hour), 9, "Nov 25"},
		{"unknown", time.Time{}, -8, ""},
	} {
		l := look()
		l.Now, l.Location = day.AddDate(0, 0, -7), time.FixedZone("", c.zone*3600)
		if got := l.estimated(c.at); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
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

func TestAnUnreadStateSaysWhatItIsKnownFrom(t *testing.T) {
	told := &account.Moment{What: account.EventTold, To: api.AwaitingConfirmation}
	made := &account.Moment{What: account.MadeElsewhere, Who: "shop", To: api.RetrievingOffer}
	seen := &account.Moment{What: account.SeenElsewhere, Who: "shop"}
	for _, c := range []struct {
		state     api.IntentState
		certainty account.Certainty
		timeline  []*account.Moment
		want      string
	}{
		{api.AwaitingConfirmation, account.Reported, []*account.Moment{made, told}, "known only from an event"},
		{api.RetrievingOffer, account.Reported, []*account.Moment{made}, "known only from a request that a proxy saw"},
		{"", account.Hinted, []*account.Moment{seen}, "a request that a proxy saw named the intent"},
		{"", account.Hinted, nil, "an event named the intent"},
	} {
		in := wholeOf("a", c.state)
		in.Certainty, in.Timeline = c.certainty, c.timeline
		p := NewDetail(look(), api.ConfirmWindow)
		p.SetPlace(Place{W: 110, H: 30})
		p.Open(Subject{Kind: OfIntent, ID: in.ID})
		p.SetFacts(Facts{Intent: in})
		if got := text(p.Lines()); !strings.Contains(got, "unread: "+c.want) {
			t.Errorf("not %q:\n%s", c.want, got)
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
