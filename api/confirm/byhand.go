package confirm

import (
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
)

// The outcome of a creation can stay unknown for good if the service serves no list. Then a person looks elsewhere, and
// decides whether it is sent again.

// creations lists the creations and purchases in this environment whose outcome is unknown, oldest first.
func (g *Guard) creations() []Line {
	return slices.DeleteFunc(g.audit.unsettled(), func(l Line) bool {
		return !isNew(l.Intent) || !slices.Contains(g.cfg.Environments, l.Environment)
	})
}

// Reference is the reference of a new intent; "" if it has none.
func (l Line) Reference() api.Text {
	if order := l.subject().order(); order != "" {
		return api.Scrub(string(order[len(creationMark):]))
	}
	return ""
}

// drop records that the outcomes of creations will never be known. They then count neither as made nor as not made,
// and no longer block the same creation. drop refuses while a request may still be on its way.
func (g *Guard) drop(open []Line) error {
	for _, l := range open {
		if over := l.At.Add(settleFor + settleGrace); time.Now().Before(over) {
			return fmt.Errorf("the same request may still be on its way: wait until %s", localTime(over))
		}
		if err := g.audit.add(l.verdict(Closed, "its outcome is not known")); err != nil {
			return err
		}
	}
	return nil
}

// before reports whether the line was sent before the intent was created.
func (l Line) before(in *api.Intent) bool {
	const skew = time.Minute // between two clocks
	return in.CreatedAt.After(l.At.Add(-skew))
}
