// Package doctor examines a set-up, one check after another, and tells of each what
// it found, what that means and what to do about it.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Verdict is how what a check found is judged.
type Verdict string

// The verdicts, from good to bad.
const (
	OK      Verdict = "ok"
	Note    Verdict = "note"    // worth knowing, and nothing to be done
	Skipped Verdict = "skipped" // nothing was looked at; Found says why
	Warning Verdict = "warning" // it works, but not as well as it might
	Fault   Verdict = "fault"   // something does not work
)

// Verdicts lists them all.
func Verdicts() []Verdict { return []Verdict{OK, Note, Skipped, Warning, Fault} }

// Finding is one thing that a check found.
type Finding struct {
	Check   string   `json:"check"`
	Verdict Verdict  `json:"verdict"`
	Found   string   `json:"found"`
	Means   string   `json:"means,omitempty"`
	Do      string   `json:"do,omitempty"`
	Details []string `json:"details,omitempty"`
	TookMS  float64  `json:"took_ms"` // of the whole check
}

// Findings is one finding, of which means and do may be "".
func Findings(v Verdict, found, means, do string) []Finding {
	return []Finding{{Verdict: v, Found: found, Means: means, Do: do}}
}

// Fine says that something is as it should be.
func Fine(format string, args ...any) []Finding {
	return Findings(OK, fmt.Sprintf(format, args...), "", "")
}

// Skip says why nothing was looked at.
func Skip(format string, args ...any) []Finding {
	return Findings(Skipped, fmt.Sprintf(format, args...), "", "")
}

// Check looks at one thing. It is skipped where a check that it needs has found a
// fault or was skipped. It says at least one thing, before its context ends.
type Check struct {
	Name  string
	Needs []string
	Run   func(ctx context.Context) []Finding
}

const (
	// Within is how long one check may take.
	Within = 5 * time.Second
	// grace is how much later a check that hangs in the system is left to itself.
	grace = 500 * time.Millisecond
)

// Examine runs the checks in order, tells of each finding as it comes, and counts them,
// until ctx ends or tell fails.
func Examine(ctx context.Context, checks []Check, tell func(Finding) error) (map[Verdict]int, error) {
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
			if err := tell(f); err != nil {
				return counts, err
			}
		}
	}
	return counts, nil
}

// examine runs one check. What hangs in the system, as a file on a server that is
// away does, cannot be ended: its goroutine ends with the process, and since that is a
// fault, nothing that needs the check goes near what it holds.
func examine(ctx context.Context, check Check, failed []string) []Finding {
	for _, need := range check.Needs {
		if slices.Contains(failed, need) {
			return Skip("it needs the check %q to be in order", need)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- check.Run(ctx) }()
	hung := time.NewTimer(Within + grace)
	defer hung.Stop()
	select {
	case findings := <-done:
		return findings
	case <-hung.C:
		return Findings(Fault, fmt.Sprintf("it has not ended within %s", Within), "the system itself does not answer, as with a file on a server that is away", "")
	}
}
