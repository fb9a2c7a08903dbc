package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func TestAQuotaSaysWhenItsReportIsOver(t *testing.T) {
	cases := []struct {
		name   string
		bucket quota.Bucket
		want   string
	}{
		{"in its window", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon}, "reads 3 / 5 1s"},
		{"its window is over", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon.Add(-2 * time.Second)}, "reads ≤5 / 5 has reset"},
		{"long over", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon.Add(-time.Hour)}, "reads ≤5 / 5 has reset"},
		{"no end of the window was told", quota.Bucket{Remaining: 3, ObservedAt: noon.Add(-time.Minute)}, "reads 3 / 5 seen 1m ago"},
		{"its forecast went with its window", quota.Bucket{Exhausted: time.Millisecond, Reset: time.Second, ObservedAt: noon.Add(-2 * time.Second)}, "reads ≤5 / 5 has reset"},
		{"reads wait for it", quota.Bucket{Remaining: 3, Reset: time.Hour, ObservedAt: noon, Next: noon.Add(57 * time.Second)}, "reads 3 / 5 waits 57s"},
		{"reads wait for it no more", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon, Next: noon}, "reads 3 / 5 1s"},
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

// A header may say what is left and not of how much.
func TestALimitThatNoHeaderNamesIsNoNumber(t *testing.T) {
	for _, test := range []struct {
		name   string
		bucket quota.Bucket
		want   string
		strip  string
	}{
		{"in its window", quota.Bucket{Remaining: 3, Reset: time.Second, ObservedAt: noon}, "reads 3 / – 1s", "reads 3/–"},
		{"nothing is left", quota.Bucket{Reset: time.Second, ObservedAt: noon}, "reads 0 / – 1s", "reads 0/–"},
		{"its window is over", quota.Bucket{Reset: time.Second, ObservedAt: noon.Add(-time.Minute)}, "reads limit unknown", "QUOTA"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.bucket.Class = quota.Reads
			for height, want := range map[int]string{10: test.want, 1: test.strip} {
				p := NewQuota(look())
				p.SetPlace(Place{W: 110, H: height})
				p.Apply(&account.Changes{Summary: account.Summary{Quota: []quota.Bucket{test.bucket}}}, true)
				got := strings.Join(strings.Fields(strings.ReplaceAll(text(p.Lines()), "─", " ")), " ")
				if !strings.Contains(got, want) || strings.Contains(got, "/ 0") || strings.Contains(got, "/0") || strings.Contains(got, "≤0") {
					t.Errorf("%d lines: no %q in:\n%s", height, want, got)
				}
			}
		})
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
		{"none left", 110, spent, "0 / ~50 used up since 11:00, the first is back by 15:50"},
		{"none left, in little room", 59, spent, "0 / ~50 by 15:50"},
		{"a day of the calendar", 110, account.DayCount{Seen: 60, Today: 20, Calendar: true, Limit: 50}, "≤30 / 50 ≥20 made since midnight UTC"},
		{"told", 110, account.DayCount{Seen: 4, Limit: 60, Told: true, Left: 20, At: noon.Add(-time.Minute), Resets: noon.Add(time.Hour)}, "20 / 60 reported 1m ago, slots return at 13:00"},
		{"told, in less room", 72, account.DayCount{Seen: 4, Limit: 60, Told: true, Left: 20, At: noon.Add(-time.Minute), Resets: noon.Add(time.Hour)}, "20 / 60 reported 1m ago agents"},
	} {
		p := NewQuota(look())
		p.SetPlace(Place{W: c.width, H: 10})
		p.Apply(&account.Changes{Summary: account.Summary{Day: c.day, Agents: account.AgentCount{Placing: 14}}}, true)
		got := strings.Join(strings.Fields(strings.ReplaceAll(text(p.Lines()), "─", "")), " ")
		if !strings.Contains(got, c.want) || strings.Contains(got, "≤"+c.want) || !strings.Contains(got, "14 placing, limit unknown") {
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
		{true, "left ↓", "reads lookup mutations today"},
		{false, "own ↓", "reads lookup mutations today"},
		{true, "own ↑", "lookup reads mutations today"},
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
		{"counted", account.DayCount{Seen: 31, Limit: 50}, 80, "today ≤19/50"},
		{"told", account.DayCount{Seen: 4, Limit: 50, Told: true, Left: 19}, 80, "today 19/50"},
		{"none left", account.DayCount{Seen: 50, Limit: 50}, 80, "today 0/50"},
		{"told, with just enough room", account.DayCount{Limit: 50, Told: true, Left: 19}, 21, "today 19/50"},
		{"assumed", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 80, "today ≤19/~50"},
		{"with just enough room", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 22, "today ≤19/~50"},
		{"without room", account.DayCount{Seen: 31, Limit: 50, Assumed: true}, 21, ""},
		{"without a limit", account.DayCount{Seen: 31}, 80, "today ≥31 made"},
		{"told without a limit", account.DayCount{Told: true, Seen: 31}, 80, "today 31 made"},
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

func TestTwoPoliciesOfAClassCanBeToldApart(t *testing.T) {
	for _, c := range []struct {
		name          string
		width         int
		first, second quota.Bucket
		want          []string
	}{
		{"by their names", 90, quota.Bucket{Policy: "default-burst"}, quota.Bucket{Policy: "default-day"}, []string{"reads default-burst ", "reads default-day "}},
		{"by the ends of their names", 39, quota.Bucket{Policy: "default-burst"}, quota.Bucket{Policy: "default-day"}, []string{"reads …bur…", "reads …day "}},
		{"by their windows", 90, quota.Bucket{Policy: "default", Window: time.Second}, quota.Bucket{Policy: "default", Window: time.Minute}, []string{"reads default 1s ", "reads default 1m "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewQuota(look())
			p.SetPlace(Place{W: c.width, H: 10})
			var all []quota.Bucket
			for _, b := range []quota.Bucket{c.first, c.second} {
				b.Class, b.Limit, b.Remaining, b.ObservedAt = quota.Reads, 10, 7, noon
				all = append(all, b)
			}
			p.Apply(&account.Changes{Summary: account.Summary{Quota: all}}, true)
			for _, want := range c.want {
				if got := text(p.Lines()); strings.Count(got, want) != 1 {
					t.Errorf("no single %q in:\n%s", want, got)
				}
			}
		})
	}
}
