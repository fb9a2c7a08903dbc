package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestAPictureShowsNothingBeforeItIsRestored(t *testing.T) {
	saved, err := account.OpenSaved(account.SavedConfig{Dir: t.TempDir(), Account: "a shop"})
	if err != nil {
		t.Fatal(err)
	}
	before := account.NewStore(account.StoreConfig{})
	before.ApplyRead(api.Intent{ID: "ci_1", State: api.Completed}, time.Now(), account.ByRead)
	if err := saved.Save(before); err != nil {
		t.Fatal(err)
	}
	store := account.NewStore(account.StoreConfig{})
	_, restored := restore(saved, store)
	changes := restoredStore{store, restored}.Changes(0)
	if len(changes.Intents) != 1 || changes.Intents[0].ID != "ci_1" {
		t.Errorf("the first picture holds %d intents, want the one that was saved", len(changes.Intents))
	}
}

// A screen is shown what it has room for at once, and everything next.
func TestAScreenIsShownAGlanceAndThenTheWholePicture(t *testing.T) {
	saved, err := account.OpenSaved(account.SavedConfig{Dir: t.TempDir(), Account: "a shop"})
	if err != nil {
		t.Fatal(err)
	}
	before := account.NewStore(account.StoreConfig{})
	const intents = 300
	for i := range intents {
		before.ApplyRead(api.Intent{ID: api.ID(fmt.Sprintf("ci_%d", i)), State: api.Completed}, time.Now(), account.ByRead)
	}
	if err := saved.Save(before); err != nil {
		t.Fatal(err)
	}
	store := account.NewStore(account.StoreConfig{})
	glance, restored := restore(saved, store)
	source := &glancedStore{restoredStore: restoredStore{store, restored}, glance: glance}
	first := source.Changes(0)
	if len(first.Intents) != intents || first.Version != 0 {
		t.Errorf("the glance shows %d intents of version %d, want %d before all versions", len(first.Intents), first.Version, intents)
	}
	if err := source.Wait(t.Context(), first.Version); err != nil {
		t.Fatal(err)
	}
	if next := source.Changes(first.Version); len(next.Intents) != intents || !next.Whole {
		t.Errorf("then it is shown %d intents, want all %d as a whole picture", len(next.Intents), intents)
	}
}

func TestARestoreThatPanicsEndsTheSessionWithAnError(t *testing.T) {
	glance, restored := restore(nil, nil)
	if err := restored(); err == nil {
		t.Error("the panic is not mentioned")
	}
	if _, ok := glance(); ok {
		t.Error("there is something to glance at")
	}
}

func TestWhatRunsAlongsideEndsWithTheMainPartAndAFailureEndsThat(t *testing.T) {
	broken, leaving := errors.New("broken"), errors.New("leaving")
	after := func(err error) part { return func(context.Context) error { return err } }
	until := func(ended *bool) part {
		return func(ctx context.Context) error {
			<-ctx.Done()
			*ended = true
			return ctx.Err()
		}
	}
	cases := []struct {
		name  string
		main  part
		parts []part
		want  error
	}{
		{"main is done", after(nil), nil, nil},
		{"main fails", after(leaving), nil, leaving},
		{"a part is done before", after(leaving), []part{after(nil)}, leaving},
		{"a part fails", untilDone, []part{after(broken)}, broken},
		{"a part fails and main says so", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, []part{after(broken)}, broken},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var ended bool
			if err := alongside(t.Context(), c.main, append(c.parts, until(&ended))...); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || !ended {
				t.Errorf("ends with %v, want %v; the other part has ended: %v", err, c.want, ended)
			}
		})
	}
}

func TestAPartThatPanicsEndsTheScreenWithAnErrorThatTellsWhere(t *testing.T) {
	torn := func(context.Context) error { panic("torn") }
	err := alongside(t.Context(), untilDone, torn)
	if err == nil || !strings.Contains(err.Error(), "panic: torn") || !strings.Contains(err.Error(), "program_test.go") {
		t.Errorf("ends with %v", err)
	}
}
