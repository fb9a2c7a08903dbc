package postgres

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestDocumentsAreSharedAndChangedOneAtATime(t *testing.T) {
	dsn := schema(t)
	var both [2]*Documents
	for i := range both {
		d, err := OpenDocuments(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		both[i] = d
	}
	one := both[0]
	if text, err := one.Document(t.Context(), "row"); err != nil || len(text) != 0 {
		t.Errorf("before anybody wrote it: %q, %v", text, err)
	}
	const each = 20
	var wg sync.WaitGroup
	for _, j := range both {
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
	for _, j := range both {
		if text, err := j.Document(t.Context(), "row"); err != nil || string(text) != strings.Repeat("x", 2*each) {
			t.Errorf("%q, %v", text, err)
		}
		if text, err := j.Document(t.Context(), "another"); err != nil || len(text) != 0 {
			t.Errorf("another one: %q, %v", text, err)
		}
	}
}
