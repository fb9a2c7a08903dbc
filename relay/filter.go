package relay

import (
	"fmt"
	"slices"
	"strings"

	"tillwatch/api"
)

const (
	maxPatterns      = 64
	maxPatternLength = 128
)

// filter is a set of event types: names, and prefixes that end in "*". The empty filter matches everything.
type filter []string

func newFilter(patterns []string) (filter, error) {
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("%d event types are too many: at most %d", len(patterns), maxPatterns)
	}
	for _, p := range patterns {
		if p == "" || len(p) > maxPatternLength || strings.Contains(strings.TrimSuffix(p, "*"), "*") {
			return nil, fmt.Errorf("event type %.80q: give a name, or a beginning and one * at its end, as in checkout_intent.*", p)
		}
	}
	return filter(patterns), nil
}

func (f filter) matches(kind string) bool {
	return len(f) == 0 || slices.ContainsFunc(f, api.EventType(kind).Matches)
}
