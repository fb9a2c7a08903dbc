package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

// spending is what one spender spent in the last hour. The rest's is inferred:
// at least about that much.
type spending struct {
	account.Tally // of all classes
	name          string
	share         float64 // of all requests
	classes       []int   // requests of each class
	slowest       time.Duration
}

// spendersOf are the spenders of the last hour, highest first.
func spendersOf(spenders []account.Spender) []spending {
	var found []spending
	all := 0
	for i := range spenders {
		s := &spenders[i]
		one := spending{Tally: account.Total(s.Over(account.LastHour, "")), name: wording.Spender(s)}
		if one.Requests == 0 {
			continue
		}
		all += one.Requests
		for _, class := range quota.Classes() {
			one.classes = append(one.classes, account.Total(s.Over(account.LastHour, class)).Requests)
		}
		for j := range s.Uses {
			one.slowest = max(one.slowest, s.Uses[j].P95)
		}
		found = append(found, one)
	}
	for i := range found {
		found[i].share = float64(found[i].Requests) / float64(all)
	}
	slices.SortStableFunc(found, func(a, b spending) int { return cmp.Compare(b.Requests, a.Requests) })
	return found
}

// text is the spending as a sentence.
func (s spending) text() string {
	text := fmt.Sprintf("%s: %s in the last hour, %.0f%% of all", s.name, wording.Counted(s.Requests, "request", "requests"), 100*s.share)
	if s.Refused > 0 {
		text += fmt.Sprintf(", %s refused", wording.Count(s.Refused))
	}
	if s.Errors > 0 {
		text += fmt.Sprintf(", %s", wording.Counted(s.Errors, "error", "errors"))
	}
	return text
}

// spenderLines is a table of spenders.
func spenderLines(spenders []account.Spender) []string {
	var lines []string
	for _, s := range spendersOf(spenders) {
		p95 := "–"
		if s.slowest > 0 {
			p95 = wording.Took(s.slowest)
		}
		name := ansi.Truncate(s.name, 30, "…")
		name += strings.Repeat(" ", 30-ansi.StringWidth(name))
		line := fmt.Sprintf("%s %9s %5.0f%% %6s %6s ", name, wording.Count(s.Requests), 100*s.share, wording.Count(s.Refused), wording.Count(s.Errors))
		for _, n := range s.classes {
			line += fmt.Sprintf(" %7s", wording.Count(n))
		}
		lines = append(lines, fmt.Sprintf("%s %8s", line, p95))
	}
	return lines
}
