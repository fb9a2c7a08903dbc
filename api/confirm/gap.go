package confirm

import (
	"fmt"
	"time"
)

// gap is a place of the audit log where lines are missing or cannot be read. Each
// may tell of a confirm, of whatever intent.
type gap struct {
	end  int64     // where it ends in the log
	by   time.Time // when its lines were written, at the latest; zero until known
	what string    // of the log, as in "was removed"
}

// gapsMatterFor is how long a confirm that nobody knows of can matter: longer than
// any intent has been seen to await confirmation.
const gapsMatterFor = 24 * time.Hour

// dateGaps notes that what is missing was written before a moment.
func (a *auditLog) dateGaps(by time.Time) {
	for i := range a.gaps {
		if a.gaps[i].by.IsZero() {
			a.gaps[i].by = by
		}
	}
}

func (g gap) matters() bool { return time.Since(g.by) < gapsMatterFor }

// hidden lists the confirms of an intent that the gaps may hide. One that was
// followed by a line about the intent hides none: that was written once it was
// settled. The caller holds the lock.
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

// warnings says what the gaps mean.
func (a *auditLog) warnings() []string {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	var all []string
	for _, g := range a.gaps {
		if g.matters() {
			all = append(all, fmt.Sprintf("earlier confirms are not known: the audit log %s (%s). From %s on an intent is confirmed if two reads show that it was not confirmed before",
				g.what, a.path, localTime(g.by.Add(settleFor))))
		}
	}
	return all
}

// Warnings says what is wrong with the audit log as it was found, and of which new
// intents of the last day nobody knows what came of them.
func (g *Guard) Warnings() []string { return append(g.audit.warnings(), g.lost()...) }

// localTime is a time of day, with its date unless that is today's.
func localTime(t time.Time) string {
	t, form := t.Local(), "15:04:05"
	if t.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		form = time.DateTime
	}
	return t.Format(form)
}
