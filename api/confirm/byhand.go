package confirm

import (
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
)

// The outcome of a creation can stay unknown for good if the service serves no list. Then a person looks elsewhere and
// settles it by hand.

// Creations lists the creations and purchases in this environment whose outcome is unknown, oldest first.
func (g *Guard) Creations() []Line {
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

// Made records that an intent came of a creation, if the read intent matches what was sent.
func (g *Guard) Made(l Line, in *api.Intent) error {
	switch {
	case subjectOf(in.Response.From.Name, l.Intent) != l.subject():
		return fmt.Errorf("%s was read in %s, and this was sent to %s", in.ID, in.Response.From.Name, l.Environment)
	case !api.SameReference(in.ReferenceID, l.Reference()), api.MaskAddress(in.ProductURL) != l.Product, in.Quantity != 0 && in.Quantity != l.Quantity:
		return fmt.Errorf("%s is something else: %d × %s, with the reference %q", in.ID, in.Quantity, api.MaskAddress(in.ProductURL), in.ReferenceID)
	case !l.before(in):
		return fmt.Errorf("%s is older: it was there before this was sent", in.ID)
	}
	return g.audit.add(l.verdict(Accepted, string(in.ID)))
}

// Drop records that the outcome of a creation will never be known. It then counts neither as made nor as not made,
// and no longer blocks the same creation. Drop refuses while the request may still be on its way.
func (g *Guard) Drop(l Line) error {
	if over := l.At.Add(settleFor + settleGrace); time.Now().Before(over) {
		return fmt.Errorf("it may still be on its way: wait until %s", localTime(over))
	}
	return g.audit.add(l.verdict(Closed, "its outcome is not known"))
}

// before reports whether the line was sent before the intent was created.
func (l Line) before(in *api.Intent) bool {
	const skew = time.Minute // between two clocks
	return in.CreatedAt.After(l.At.Add(-skew))
}
