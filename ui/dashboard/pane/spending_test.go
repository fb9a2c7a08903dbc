package pane

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// spent is a summary in which so many requests were sent in this second.
func spent(name api.Text, kind account.SpenderKind, uses map[string]int) account.Spender {
	s := account.Spender{Kind: kind, Name: name}
	for endpoint, n := range uses {
		all := []account.Tally{{At: noon, Requests: n}}
		s.Uses = append(s.Uses, account.Use{Class: quota.Reads, Endpoint: endpoint, P95: 20 * time.Millisecond, Series: account.Series[account.Tally]{Seconds: all, Minutes: all, Hours: all}})
	}
	return s
}

func usagePane(spenders ...account.Spender) *Quota {
	p := NewQuota(look())
	p.SetPlace(Place{W: 120, H: 40})
	p.SetFocus(true)
	p.Apply(&account.Changes{Summary: account.Summary{Spenders: spenders}}, true)
	return p
}

func TestARowOfASpenderLeadsToItsRequests(t *testing.T) {
	cases := []struct {
		name        string
		spender     account.Spender
		filter, why string
	}{
		{"somebody observed", spent("report job", account.SpenderObserved, nil), `by="report job"`, ""},
		{"with a name that would be a filter", spent(`a" status:200 "b`, account.SpenderObserved, nil), `by="a status:200 b"`, ""},
		{"tillwatch", account.Spender{Kind: account.SpenderOwn, Purpose: quota.Hint}, `by="tillwatch event"`, ""},
		{"more than are told apart", account.Spender{Kind: account.SpenderOthers}, "", "too many"},
		{"those whom nobody saw", account.Spender{Kind: account.SpenderRest}, "", "no proxy saw"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := usagePane(c.spender)
			p.Lines()
			filter, why := p.RowFilter()
			if filter != c.filter || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
				t.Errorf("filter %q, why %q", filter, why)
			}
			if filter == "" {
				return
			}
			requests := NewRequests(look())
			requests.SetPlace(Place{W: 120, H: 20})
			theirs := api.Exchange{By: c.spender.Name, Priority: c.spender.Purpose, Method: "GET", Path: "/a", Sent: noon, Status: 200}
			another := api.Exchange{By: c.spender.Name + "2", Method: "GET", Path: "/b", Sent: noon, Status: 200}
			requests.Apply(&account.Changes{Requests: []api.Exchange{theirs, another}}, true)
			f := ParseFilter(filter, requests.Fields())
			requests.SetFilter(f)
			if shown, _ := requests.Matches(); shown != 1 || f.Wrong != "" {
				t.Errorf("%s finds %d requests: %s", filter, shown, f.Wrong)
			}
		})
	}
}

func TestTheCursorStaysOnItsSpenderWhileTheyChangePlaces(t *testing.T) {
	many := spent("many", account.SpenderObserved, map[string]int{"GET /api/v1/shipments": 9})
	few := spent("few", account.SpenderObserved, map[string]int{"GET /api/v1/events": 2, "GET /api/v1/shipments": 1})
	p := usagePane(many, few)
	p.Lines()
	p.Move(Last)
	want := `by="few" endpoint="GET /api/v1/shipments"`
	if got, _ := p.RowFilter(); got != want {
		t.Fatalf("the last row is %s, want %s", got, want)
	}
	more := spent("few", account.SpenderObserved, map[string]int{"GET /api/v1/events": 20, "GET /api/v1/shipments": 30})
	p.Apply(&account.Changes{Summary: account.Summary{Spenders: []account.Spender{many, more}}}, false)
	p.Invalidate()
	got := text(p.Lines())
	if strings.Index(got, "few") > strings.Index(got, "many") {
		t.Errorf("who spends most is not first:\n%s", got)
	}
	if got, _ := p.RowFilter(); got != want {
		t.Errorf("the cursor is on %s, want %s", got, want)
	}
}

func TestWhatIsNotKnownOfSpendingIsNotZero(t *testing.T) {
	rest := account.Spender{Kind: account.SpenderRest}
	p := usagePane(rest, spent("seen", account.SpenderObserved, map[string]int{"GET /api/v1/shipments": 4}))
	row := func(name string) string {
		p.Invalidate()
		for line := range strings.SplitSeq(text(p.Lines()), "\n") {
			if strings.Contains(line, name) {
				return strings.Join(strings.Fields(line), " ")
			}
		}
		return ""
	}
	if got := row("the rest"); !strings.HasSuffix(got, "– – – – – –") {
		t.Errorf("of those whom nobody saw: %q", got)
	}
	if got := row("seen"); !strings.Contains(got, "4 100 % – – 0 0") {
		t.Errorf("of one who was seen: %q", got)
	}
	p.Apply(&account.Changes{Summary: account.Summary{Spenders: []account.Spender{spent("", account.SpenderRest, map[string]int{"": 12})}}}, false)
	if got := row("the rest"); !strings.Contains(got, "≈12 100 % – – – –") {
		t.Errorf("inferred: %q", got)
	}
	if got := text(usagePane().Lines()); !strings.Contains(got, "who spends is not known yet") || !strings.Contains(got, "not called yet") {
		t.Errorf("of nothing:\n%s", got)
	}
}

func TestAForecastIsShownAsATimeOfDay(t *testing.T) {
	p := NewQuota(look())
	p.Apply(&account.Changes{Summary: account.Summary{
		Day: account.DayCount{Seen: 31, Limit: 50, Exhausted: 90 * time.Minute, Assumed: true}, Agents: account.AgentCount{Placing: 2, Limit: 10, Assumed: true},
		Limits: []account.Limit{
			{Name: account.LimitDay, Limit: account.Figure{N: 50, Grounds: account.Assumed}, Used: account.Figure{N: 31, Grounds: account.Counted}, RunsOut: noon.Add(100 * time.Minute)},
			{Name: account.LimitAgents, Limit: account.Figure{N: 10, Grounds: account.Assumed}},
		},
		Quota: []quota.Bucket{{Class: quota.Reads, Limit: 1000, Window: time.Hour, Remaining: 400, Reset: time.Hour, ObservedAt: noon, Exhausted: 20 * time.Minute}},
	}}, true)
	for _, size := range [][2]int{{59, 10}, {110, 10}, {120, 40}} {
		p.SetPlace(Place{W: size[0], H: size[1]})
		got := text(p.Lines())
		for _, want := range []string{"out 12:20", "out 13:40", "≤19 / ~50", "≤8 / ~10"} {
			if !strings.Contains(got, want) {
				t.Errorf("%v: no %q in\n%s", size, want, got)
			}
		}
	}
}

func TestEachLimitHasOneRow(t *testing.T) {
	p := NewQuota(look())
	p.SetPlace(Place{W: 110, H: 10})
	bucket := func(policy string, limit, remaining int64, window time.Duration) quota.Bucket {
		return quota.Bucket{Class: quota.Mutations, Policy: policy, Limit: limit, Window: window, Remaining: remaining, Reset: window, ObservedAt: noon}
	}
	p.Apply(&account.Changes{Summary: account.Summary{
		Day: account.DayCount{Seen: 4, Limit: 60, Told: true, Left: 20, At: noon, Resets: noon.Add(time.Hour)}, Agents: account.AgentCount{Placing: 2, Limit: 10},
		Limits: []account.Limit{{Name: account.LimitAgents, Limit: account.Figure{N: 10, Grounds: account.Told}, Used: account.Figure{N: 3, Grounds: account.Told}, At: noon}},
		Quota:  []quota.Bucket{bucket("mutations", 5, 4, time.Second), bucket("concurrent-agents", 10, 7, time.Second), bucket("checkout-intents", 60, 20, 24*time.Hour)},
	}}, true)
	got := text(p.Lines())
	for _, want := range []string{"reads", "mutations", "lookup", "today", "agents"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, got)
		}
	}
	if rows := strings.Join(strings.Fields(strings.ReplaceAll(got, "━", "─")), " "); !strings.Contains(rows, "─ 4 / 5") || !strings.Contains(rows, "─ 7 / 10 reported") || !strings.Contains(rows, "─ 20 / 60 reported") {
		t.Errorf("not as they were reported:\n%s", got)
	}
}

func TestAnAssumedLimitThatWasPassedIsNone(t *testing.T) {
	for requests, want := range map[int]string{9: "limit ~10", 11: "limit not reported"} {
		p := NewQuota(look())
		p.SetPlace(Place{W: 120, H: 40})
		p.Apply(&account.Changes{Summary: account.Summary{
			Spenders: []account.Spender{spent("worker", account.SpenderObserved, map[string]int{"GET /api/v1/shipments": requests})},
			Limits:   []account.Limit{{Name: account.LimitReads, Window: time.Second, Limit: account.Figure{N: 10, Grounds: account.Assumed}}},
		}}, true)
		if got := text(p.Lines()); !strings.Contains(got, want) || strings.Contains(got, "▔") != (requests < 10) {
			t.Errorf("%d requests in a second: no %q in\n%s", requests, want, got)
		}
	}
}

func TestAChartOfAClassCalledEarlierSaysSo(t *testing.T) {
	p := usagePane()
	p.Apply(&account.Changes{Summary: account.Summary{Quota: []quota.Bucket{
		{Class: quota.Lookup, Limit: 10, Remaining: 10, Window: time.Second, ObservedAt: noon.Add(-2 * time.Minute)},
	}}}, false)
	p.Invalidate()
	if got := text(p.Lines()); strings.Count(got, "not called in this time") != 1 || !strings.Contains(got, "2m ago") {
		t.Errorf("the chart contradicts the row of its class:\n%s", got)
	}
}

func TestASpenderIsNoSlowerThanItsSlowestEndpoint(t *testing.T) {
	quick, slow := spent("quick", account.SpenderObserved, map[string]int{"GET /a": 9}), spent("slow", account.SpenderObserved, map[string]int{"GET /a": 1, "GET /b": 1})
	slow.Uses[1].P95 = 2 * time.Second
	p := usagePane(quick, slow)
	p.Sort("p95", false)
	row := regexp.MustCompile(`slow .* ≤2(\.0)?s`)
	if got := text(p.Lines()); !row.MatchString(got) || strings.Index(got, "slow") > strings.Index(got, "quick") {
		t.Errorf("the slowest is not first, with a bound of its answers:\n%s", got)
	}
}

func TestAHeldCursorStaysOnItsSpender(t *testing.T) {
	few, many := spent("few", account.SpenderObserved, map[string]int{"GET /a": 2}), spent("many", account.SpenderObserved, map[string]int{"GET /a": 9})
	p := usagePane(few)
	p.Lines()
	p.Hold(false)
	p.Apply(&account.Changes{Summary: account.Summary{Spenders: []account.Spender{few, many}}}, false)
	p.Invalidate()
	p.Lines()
	if filter, _ := p.RowFilter(); filter != `by="few"` || p.spending.rows[0].key.by != "many" {
		t.Errorf("after another spent more the cursor is on %s", filter)
	}
}

func TestWhatIsLeftOfTheDayIsAPartOfItsLimit(t *testing.T) {
	s := usagePane().spending
	for _, left := range []int{45, 7, 1, 0} {
		s.limits = []account.Limit{{
			Name: account.LimitDay, Limit: account.Figure{N: 50, Grounds: account.Told}, Used: account.Figure{N: 50 - left, Grounds: account.Told},
			Series: account.Series[account.Level]{Seconds: []account.Level{{At: noon, Used: 50 - left}}},
		}}
		c := s.burnDown(80, 12)
		if top, drawn := c.top(); c.highest() != float64(left) || top != 50 || !drawn {
			t.Errorf("%d left of 50: a bar of %v in a chart up to %v, with its limit: %v", left, c.highest(), top, drawn)
		}
	}
}
