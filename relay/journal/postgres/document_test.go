package postgres

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestDocumentsAreSharedAndChangedOneAtATime(t *testing.T) {
	dsn := schema(t)
	one, other := opened(t, dsn).(*Journal), opened(t, dsn).(*Journal)
	if text, err := one.Document(t.Context(), "row"); err != nil || len(text) != 0 {
		t.Errorf("before anybody wrote it: %q, %v", text, err)
	}
	const each = 20
	var wg sync.WaitGroup
	for _, j := range []*Journal{one, other} {
		wg.Go(func() {
			for range each {
				err := j.ChangeDocument(t.Context(), "row", func(text []byte) ([]byte, error) { return append(text, 'x'), nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	refused := errors.New("refused")
	err := one.ChangeDocument(t.Context(), "row", func([]byte) ([]byte, error) { return nil, refused })
	if err != refused {
		t.Errorf("an edit that is refused: %v", err)
	}
	for _, j := range []*Journal{one, other} {
		if text, err := j.Document(t.Context(), "row"); err != nil || string(text) != strings.Repeat("x", 2*each) {
			t.Errorf("%q, %v", text, err)
		}
		if text, err := j.Document(t.Context(), "another"); err != nil || len(text) != 0 {
			t.Errorf("another one: %q, %v", text, err)
		}
	}
}

func TestAJournalOfTheFirstVersionIsUpgradedWithWhatItHolds(t *testing.T) {
	dsn := schema(t)
	execute(t, dsn, migrations()[0])
	execute(t, dsn, "INSERT INTO tillwatch_journal (version, epoch, head, oldest) VALUES (1, 'first', 7, 8)")
	j := opened(t, dsn).(*Journal)
	head, err := j.Head(t.Context())
	if err != nil || head != 7 || j.Epoch() != "first" {
		t.Errorf("the head is %d in %s, %v", head, j.Epoch(), err)
	}
	if err := j.ChangeDocument(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("b"), nil }); err != nil {
		t.Error(err)
	}
	if found := count(t, dsn, "SELECT version FROM tillwatch_journal"); found != int64(version()) {
		t.Errorf("its version is %d", found)
	}
}
