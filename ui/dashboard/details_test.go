package dashboard

import (
	"fmt"
	"testing"

	"tillwatch/api"
	"tillwatch/ui/dashboard/pane"
)

func seenIntent(n int) pane.Subject {
	return pane.Subject{Kind: pane.OfIntent, ID: api.ID(fmt.Sprint("ci_", n))}
}

func TestTheTrailGoesBackAndOnFromThere(t *testing.T) {
	var trail trail
	if trail.ends(-1, false) != "no detail was opened yet" {
		t.Error("an empty trail leads somewhere")
	}
	for n := range 3 {
		trail.add(seenIntent(n))
		trail.add(seenIntent(n)) // twice in a row counts once
	}
	if trail.at != 2 || trail.ends(1, true) != "this is the last detail you looked at" || trail.ends(-1, true) != "" {
		t.Errorf("after three: %+v", trail)
	}
	trail.at = 0
	if trail.ends(-1, true) != "this is the first detail you looked at" || trail.ends(-1, false) != "" {
		t.Error("from the first one it goes further back, or does not come back to it")
	}
	trail.add(seenIntent(9))
	if len(trail.seen) != 2 || trail.seen[1] != seenIntent(9) {
		t.Errorf("another one from the first on leaves %v", trail.seen)
	}
}

func TestTheTrailIsBounded(t *testing.T) {
	var trail trail
	for n := range longestTrail + 5 {
		trail.add(seenIntent(n))
	}
	if len(trail.seen) != longestTrail || trail.seen[0] != seenIntent(5) || trail.at != longestTrail-1 {
		t.Errorf("%d are kept from %v on, at %d", len(trail.seen), trail.seen[0], trail.at)
	}
}
