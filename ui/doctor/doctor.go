// Package doctor runs the checks of a set-up, and reports what each of them found and what to
// do.
package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay/journal"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard/layout"
)

// Verdict is the judgement of a finding.
type Verdict string

// The verdicts, from good to bad.
const (
	OK      Verdict = "ok"
	Skipped Verdict = "skipped" // the check did not run; Found says why
	Warning Verdict = "warning" // it works, but not as well as it might
	Fault   Verdict = "fault"   // something does not work
)

// Finding is what a check found.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Do      string  `json:"do,omitempty"`
}

func fine(format string, args ...any) Finding {
	return Finding{Verdict: OK, Found: fmt.Sprintf(format, args...)}
}
func skip(why string) Finding        { return Finding{Verdict: Skipped, Found: why} }
func warn(found, do string) Finding  { return Finding{Verdict: Warning, Found: found, Do: do} }
func fault(found, do string) Finding { return Finding{Verdict: Fault, Found: found, Do: do} }

// Setup is what is examined. What is not configured is empty.
type Setup struct {
	Settings config.Settings
	Wrong    error                                          // why the settings cannot be used
	Journal  func(context.Context) (journal.Journal, error) // of a relay on this machine; nil: none is known
	In       io.Reader                                      // perhaps a terminal, as is Out
	Out      io.Writer
	Within   time.Duration // how long the service may take for one answer; 0: two seconds

	pacer    *quota.Pacer
	first    error        // of the first read; nil: it succeeded
	answered api.Exchange // the first that was answered
	reads    int          // charged to the service's quota
}

// within is how long one check may take.
const within = 5 * time.Second

// Examine runs the nine checks in order, passes what each finds to report, and counts that by
// verdict, until ctx ends or report fails. A check is skipped if one that it needs found a fault
// or was skipped.
func (s *Setup) Examine(ctx context.Context, report func(Finding) error) (map[Verdict]int, error) {
	counts, missing := map[Verdict]int{}, map[string]bool{}
	for _, check := range []struct {
		name, needs string
		within      time.Duration
		run         func(context.Context) Finding
	}{
		{"settings", "", within, s.settings},
		{"service", "settings", within, s.service},
		{"key", "service", within, s.key},
		{"limits", "key", within, s.limits},
		{"relay", "settings", within, s.relay},
		{"token", "relay", within, s.token},
		{"signing", "settings", within, s.signing},
		{"journal", "settings", 10 * time.Minute, s.journal}, // it reads all events
		{"terminal", "", within, s.terminal},
	} {
		found := skip("needs " + check.needs)
		if !missing[check.needs] {
			limited, cancel := context.WithTimeout(ctx, check.within)
			found = check.run(limited)
			cancel()
		}
		if err := ctx.Err(); err != nil {
			return counts, err
		}
		missing[check.name] = found.Verdict == Fault || found.Verdict == Skipped
		counts[found.Verdict]++
		found.Check = check.name
		if err := report(found); err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// Reads is how many reads were charged to the service's quota.
func (s *Setup) Reads() int { return s.reads }

func (s *Setup) settings(context.Context) Finding {
	if s.Wrong == nil {
		return fine("they can be used")
	}
	return fault(strings.ReplaceAll(strings.TrimSpace(s.Wrong.Error()), "\n", "; "),
		"correct it where it is set: flags win over variables, those over the profile, that over the rest of the file")
}

// terminal looks at the terminal, and asks it nothing: what somebody types meanwhile is not for us.
func (s *Setup) terminal(context.Context) Finding {
	in, isIn := s.In.(*os.File)
	out, isOut := s.Out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return skip("there is none")
	}
	width, height, err := term.GetSize(out.Fd())
	what := fmt.Sprintf("%dx%d cells, TERM=%q, colours: %s", width, height, os.Getenv("TERM"),
		colorprofile.Detect(out, os.Environ()))
	if err != nil || width < layout.MinWidth || height < layout.MinHeight {
		return warn(fmt.Sprintf("%s: the dashboard needs %dx%d", what, layout.MinWidth, layout.MinHeight),
			"enlarge the window, or use a smaller font")
	}
	return fine("%s", what)
}
