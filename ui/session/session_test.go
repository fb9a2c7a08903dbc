package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
)

// settingsOf are settings of an account, whose picture is kept in a folder.
func settingsOf(folder string) config.Settings {
	s := config.Defaults()
	s.APIURL, s.APIKey, s.StateDir = "https://api.example", api.NewSecret("key-of-the-test"), folder
	return s
}

func TestASessionBeginsWithWhatTheLastOneKnew(t *testing.T) {
	s := settingsOf(t.TempDir())
	first, err := New(s, Options{Memory: Keeps})
	if err != nil {
		t.Fatal(err)
	}
	first.Store.ApplyRead(api.Intent{ID: "ci_1", State: api.Completed}, time.Now(), account.ByRead)
	if err := first.saved.Save(first.Store); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for memory, want := range map[Memory]int{Forgets: 0, Remembers: 1, Keeps: 1} {
		again, err := New(s, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		show := again.OnceRestored(func(context.Context) error {
			shown = len(again.Store.Changes(0).Intents)
			return nil
		})
		if err := show(t.Context()); err != nil || shown != want || (again.saved != nil) != (memory == Keeps) {
			t.Errorf("memory %d: it begins with %d intents, want %d (%v)", memory, shown, want, err)
		}
		again.Close()
	}
}

func TestARestoreThatPanicsEndsTheSessionWithAnError(t *testing.T) {
	s := &Session{}
	s.restore(nil)
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("it ends with %v", err)
	}
}

func TestAccountsDoNotShareAPictureUnlessTheirKeyWasRotated(t *testing.T) {
	name := func(change func(s *config.Settings)) string {
		s := settingsOf("")
		change(&s)
		name := pictureName(s, "live")
		if strings.Contains(name, s.APIKey.Reveal()) {
			t.Errorf("the name %q holds the key", name)
		}
		return name
	}
	key := func(text string) func(*config.Settings) {
		return func(s *config.Settings) { s.APIKey = api.NewSecret(text) }
	}
	of := func(file, text string) func(*config.Settings) {
		return func(s *config.Settings) {
			s.SecretFiles, s.APIKey = map[string]string{"api_key": file}, api.NewSecret(text)
		}
	}
	for _, c := range []struct {
		name string
		a, b func(*config.Settings)
		same bool
	}{
		{"one key", key("one"), key("one"), true},
		{"two keys", key("one"), key("another"), false},
		{"a rotated key file", of("/run/key", "old"), of("/run/key", "new"), true},
		{"two key files", of("/run/key", "old"), of("/run/other", "old"), false},
		{"two services", key("one"), func(s *config.Settings) { key("one")(s); s.APIURL = "https://other.example" }, false},
	} {
		if same := name(c.a) == name(c.b); same != c.same {
			t.Errorf("%s: they share a picture: %t", c.name, same)
		}
	}
}

func TestWhatRunsAlongsideEndsWithTheMainPartAndAFailureEndsThat(t *testing.T) {
	broken, leaving := errors.New("broken"), errors.New("leaving")
	after := func(err error) Part { return func(context.Context) error { return err } }
	until := func(ended *bool) Part {
		return func(ctx context.Context) error {
			<-ctx.Done()
			*ended = true
			return ctx.Err()
		}
	}
	cases := []struct {
		name  string
		main  Part
		parts []Part
		want  error
	}{
		{"main is done", after(nil), nil, nil},
		{"main fails", after(leaving), nil, leaving},
		{"a Part is done before", after(leaving), []Part{after(nil)}, leaving},
		{"a Part fails", UntilDone, []Part{after(broken)}, broken},
		{"a Part fails and main says so", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, []Part{after(broken)}, broken},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var ended bool
			if err := Alongside(t.Context(), c.main, append(c.parts, until(&ended))...); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || !ended {
				t.Errorf("ends with %v, want %v; the other Part has ended: %v", err, c.want, ended)
			}
		})
	}
}

func TestAPartThatPanicsEndsTheScreenWithAnErrorThatTellsWhere(t *testing.T) {
	torn := func(context.Context) error { panic("torn") }
	err := Alongside(t.Context(), UntilDone, torn)
	if err == nil || !strings.Contains(err.Error(), "panic: torn") || !strings.Contains(err.Error(), "session_test.go") {
		t.Errorf("ends with %v", err)
	}
}
