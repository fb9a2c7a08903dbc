// Package doctor runs the checks of a set-up, and reports what each of them found, what
// that means and what to do.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Verdict is the judgement of a finding.
type Verdict string

// The verdicts, from good to bad.
const (
	OK      Verdict = "ok"
	Note    Verdict = "note"    // worth knowing; nothing to do
	Skipped Verdict = "skipped" // the check did not run; Found says why
	Warning Verdict = "warning" // it works, but not as well as it might
	Fault   Verdict = "fault"   // something does not work
)

// Verdicts lists all verdicts.
func Verdicts() []Verdict { return []Verdict{OK, Note, Skipped, Warning, Fault} }

// Finding is one thing that a check found.
type Finding struct {
	Check   string   `json:"check"`
	Verdict Verdict  `json:"verdict"`
	Found   string   `json:"found"`
	Means   string   `json:"means,omitempty"`
	Do      string   `json:"do,omitempty"`
	Details []string `json:"details,omitempty"`
	TookMS  float64  `json:"took_ms"` // by the whole check
}

// Findings makes one finding. means and do may be "".
func Findings(v Verdict, found, means, do string) []Finding {
	return []Finding{{Verdict: v, Found: found, Means: means, Do: do}}
}

// Fine makes a finding that something is in order.
func Fine(format string, args ...any) []Finding {
	return Findings(OK, fmt.Sprintf(format, args...), "", "")
}

// Skip makes a finding that says why a check did not run.
func Skip(format string, args ...any) []Finding {
	return Findings(Skipped, fmt.Sprintf(format, args...), "", "")
}

// Check examines one thing. It is skipped if a check that it needs found a fault or
// was skipped. It returns at least one finding before its context ends.
type Check struct {
	Name  string
	Needs []string
	Run   func(ctx context.Context) []Finding
}

const (
	// within is how long one check may take.
	within = 5 * time.Second
	// grace is how much longer Examine waits for a check that ignores its context.
	grace = 500 * time.Millisecond
)

// Examine runs the checks in order, passes each finding to report as it comes, and
// counts them by verdict, until ctx ends or report fails.
func Examine(ctx context.Context, checks []Check, report func(Finding) error) (map[Verdict]int, error) {
	counts := map[Verdict]int{}
	var failed []string
	for _, check := range checks {
		began := time.Now()
		findings := examine(ctx, check, failed)
		if err := ctx.Err(); err != nil {
			return counts, err
		}
		for _, f := range findings {
			if f.Verdict == Fault || f.Verdict == Skipped {
				failed = append(failed, check.Name)
			}
			counts[f.Verdict]++
			f.Check, f.TookMS = check.Name, float64(time.Since(began).Microseconds())/1000
			if err := report(f); err != nil {
				return counts, err
			}
		}
	}
	return counts, nil
}

// examine runs one check. A check that hangs in a system call, as on a file of an
// unreachable server, cannot be ended: its goroutine stays until the process ends.
// That is a fault, so that no check that needs this one runs and touches the same file.
func examine(ctx context.Context, check Check, failed []string) []Finding {
	for _, need := range check.Needs {
		if slices.Contains(failed, need) {
			return Skip("the check %q must pass first", need)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- check.Run(ctx) }()
	hung := time.NewTimer(within + grace)
	defer hung.Stop()
	select {
	case findings := <-done:
		return findings
	case <-hung.C:
		return Findings(Fault, fmt.Sprintf("it did not end within %s", within), "the system itself does not respond, as with a file on an unreachable server", "")
	}
}
