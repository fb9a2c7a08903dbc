package command

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

// spenderReport is what one spender spent in the last hour. The rest's is inferred:
// at least about that much.
type spenderReport struct {
	Kind     account.SpenderKind `json:"kind"`
	Name     string              `json:"name"`
	Key      string              `json:"key,omitempty"` // a fingerprint
	Requests int                 `json:"requests"`
	Share    float64             `json:"share"` // of all requests
	Refused  int                 `json:"refused"`
	Errors   int                 `json:"errors"`
	Reads    int                 `json:"reads"`
	Mutating int                 `json:"mutations"`
	Lookups  int                 `json:"lookup"`
	P95MS    *float64            `json:"p95_ms"` // of the slowest endpoint; null if not known
}

// spendersOf are the spenders of the last hour, highest first.
func spendersOf(spenders []account.Spender) []spenderReport {
	reports, all := []spenderReport{}, 0
	for i := range spenders {
		s := &spenders[i]
		in := func(class quota.Class) int { return account.Total(s.Over(account.LastHour, class)).Requests }
		total := account.Total(s.Over(account.LastHour, ""))
		if total.Requests == 0 {
			continue
		}
		all += total.Requests
		r := spenderReport{
			Kind: s.Kind, Name: wording.Spender(s), Key: s.Key, Requests: total.Requests, Refused: total.Refused, Errors: total.Errors,
			Reads: in(quota.Reads), Mutating: in(quota.Mutations), Lookups: in(quota.Lookup),
		}
		var slowest time.Duration
		for j := range s.Uses {
			slowest = max(slowest, s.Uses[j].P95)
		}
		if slowest > 0 {
			r.P95MS = new(rounded(float64(slowest) / float64(time.Millisecond)))
		}
		reports = append(reports, r)
	}
	for i := range reports {
		reports[i].Share = rounded(float64(reports[i].Requests) / float64(all))
	}
	slices.SortStableFunc(reports, func(a, b spenderReport) int { return cmp.Compare(b.Requests, a.Requests) })
	return reports
}

// text is the report as a sentence.
func (r spenderReport) text() string {
	text := fmt.Sprintf("%s: %s in the last hour, %.0f%% of all", r.Name, wording.Counted(r.Requests, "request", "requests"), 100*r.Share)
	if r.Refused > 0 {
		text += fmt.Sprintf(", %s refused", wording.Count(r.Refused))
	}
	if r.Errors > 0 {
		text += fmt.Sprintf(", %s", wording.Counted(r.Errors, "error", "errors"))
	}
	return text
}

// spenderLines is a table of spenders.
func spenderLines(spenders []account.Spender) []string {
	var lines []string
	for _, r := range spendersOf(spenders) {
		p95 := "–"
		if r.P95MS != nil {
			p95 = fmt.Sprintf("%.0f ms", *r.P95MS)
		}
		name := ansi.Truncate(r.Name, 30, "…")
		name += fmt.Sprintf("%*s", 30-ansi.StringWidth(name), "")
		lines = append(lines, fmt.Sprintf("%s %9s %5.0f%% %6s %6s  %7s %7s %7s %8s", name, wording.Count(r.Requests), 100*r.Share,
			wording.Count(r.Refused), wording.Count(r.Errors), wording.Count(r.Reads), wording.Count(r.Mutating), wording.Count(r.Lookups), p95))
	}
	return lines
}

// limitQuota is a limit in `status --json`.
type limitQuota struct {
	Name      account.LimitName `json:"name"`
	Limit     *int              `json:"limit"` // null if not known, like used and left
	LimitFrom account.Grounds   `json:"limit_from"`
	Used      *int              `json:"used"`
	UsedFrom  account.Grounds   `json:"used_from"`
	Left      *int              `json:"left"`
	RunsOut   *time.Time        `json:"runs_out"` // at the pace of the last 15 minutes; null if not in sight
	Returns   *time.Time        `json:"returns"`  // when slots return; null if not known

	text string
}

func limitsOf(limits []account.Limit, now time.Time) []limitQuota {
	reports := []limitQuota{}
	for i := range limits {
		l := &limits[i]
		reports = append(reports, limitQuota{
			Name: l.Name, Limit: figureOf(l.Limit), LimitFrom: l.Limit.Grounds, Used: figureOf(l.Used), UsedFrom: l.Used.Grounds,
			Left: figureOf(l.Left()), RunsOut: moment(l.RunsOut), Returns: moment(l.Returns), text: limitText(l, now),
		})
	}
	return reports
}

func figureOf(f account.Figure) *int {
	if f.Grounds == account.NotKnown {
		return nil
	}
	return &f.N
}
