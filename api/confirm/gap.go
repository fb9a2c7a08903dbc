package confirm

import (
	"fmt"
	"slices"
	"time"
)

// gap is a place in the audit log where lines are missing or unreadable. Each may have recorded a confirm of any
// intent.
type gap struct {
	end  int64     // the offset in the log where it ends
	by   time.Time // the latest time at which its lines were written; zero while unknown
	what string    // what happened to the log, as in "was removed"
}

// gapsMatterFor is how long an unrecorded confirm can matter: longer than any intent was seen to await
// confirmation.
const gapsMatterFor = 24 * time.Hour

// dateGaps records that the missing lines were written before a time.
func (a *auditLog) dateGaps(by time.Time) {
	for i := range a.gaps {
		if a.gaps[i].by.IsZero() {
			a.gaps[i].by = by
		}
	}
}

func (g gap) matters() bool { return time.Since(g.by) < gapsMatterFor }

// hidden lists the confirms of a subject that the gaps may hide. A gap followed by a line about the subject hides
// none: that line was written once it was settled. The caller holds the lock.
func (a *auditLog) hidden(s subject) []Line {
	var found []Line
	for _, g := range a.gaps {
		if !g.matters() || a.last[s] > g.end {
			continue
		}
		line := Line{At: g.by, Intent: s.intent, Stage: Sending, Detail: "the audit log " + g.what}
		if s.standIn {
			line.Environment = "simulator"
		}
		found = append(found, line)
	}
	return found
}

// warnings says what the gaps mean for the user.
func (a *auditLog) warnings() []string {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	var all []string
	for _, g := range a.gaps {
		if g.matters() {
			all = append(all, fmt.Sprintf("earlier confirms are not known: the audit log %s (%s). From %s on an intent is confirmed if two reads show that it was not confirmed before",
				g.what, a.path, localTime(g.by.Add(heldFor))))
		}
	}
	return slices.Compact(all)
}

// Warnings lists what is wrong with the audit log as found, and the orders of the last day without a known
// outcome.
func (g *Guard) Warnings() []string { return append(g.audit.warnings(), g.lost()...) }

// localTime formats a time of day, with the date unless it is today's.
func localTime(t time.Time) string {
	t, form := t.Local(), "15:04:05"
	if t.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		form = time.DateTime
	}
	return t.Format(form)
}
