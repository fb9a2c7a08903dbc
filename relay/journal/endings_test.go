package journal_test

import (
	"context"
	"errors"
	"testing"

	"tillwatch/relay/journal"
)

func contexts(t *testing.T, s *subject) {
	j := s.opened()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(ctx, 0) }()
	cancel()
	if err := <-waited; !isEnd(err) {
		t.Errorf("wait: %v", err)
	}
	if _, err := j.Append(ctx, entries(1, 1)); !isEnd(err) {
		t.Errorf("append: %v", err)
	}
}

func closed(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entry(1))
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(t.Context(), 1) }()
	must(t, j.Close())
	must(t, j.Close())
	_, appendErr := j.Append(t.Context(), entries(2, 2))
	_, readErr := j.Read(t.Context(), 0, 1)
	_, _, findErr := j.Find(t.Context(), entry(1).ID)
	_, headErr := j.Head(t.Context())
	_, oldestErr := j.Oldest(t.Context())
	_, pruneErr := j.Prune(t.Context(), start)
	_, quarantinedErr := j.Quarantined(t.Context(), 1)
	for name, err := range map[string]error{
		"wait":        <-waited,
		"append":      appendErr,
		"read":        readErr,
		"find":        findErr,
		"head":        headErr,
		"oldest":      oldestErr,
		"prune":       pruneErr,
		"quarantine":  j.Quarantine(t.Context(), journal.Unreadable{}),
		"quarantined": quarantinedErr,
		"check":       j.Check(t.Context()),
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}
