package confirm_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// told is what a history says of its only attempt, in short.
func told(t *testing.T, h *confirm.History) (answer string, ended confirm.Verdict) {
	t.Helper()
	attempts := h.Read()
	if len(attempts) != 1 {
		t.Fatalf("the history has %d attempts", len(attempts))
	}
	a := attempts[0]
	if a.Sent.Intent != id || a.Sent.Total != "44.52 USD" || a.Sent.Product != "Chili Crisp" || a.Open() != (a.Ended.Verdict == "") {
		t.Errorf("it was sent as %+v", a.Sent)
	}
	return a.Answered.Detail, a.Ended.Verdict
}

// Any process can follow what became of a confirm, while it is under way and after a restart.
func TestTheHistoryTellsWhatBecomesOfAConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		answer  error
		answer2 string
		later   func(s *service)
		ended   confirm.Verdict
	}{
		"accepted at once":               {nil, "", nil, confirm.Accepted},
		"its answer lost, and taken":     {&lostAnswer{}, "the answer was lost", func(s *service) { s.intent.State = api.PlacingOrder }, confirm.Accepted},
		"its answer lost, and not taken": {&lostAnswer{}, "the answer was lost", nil, confirm.NotTaken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				g, file := guard(t, s)
				h := confirm.NewHistory(file, []string{"simulator"})
				s.onSend = func(*service) error {
					if answer, ended := told(t, h); answer != "" || ended != "" {
						t.Errorf("while it is under way it says %q, %q", answer, ended)
					}
					return c.answer
				}
				g.Confirm(t.Context(), proposal(t, s.intent), func(at confirm.Progress) {
					if at.Stage != confirm.Settling {
						return
					}
					if answer, ended := told(t, h); answer != c.answer2 || ended != "" {
						t.Errorf("while it is settled it says %q, %q", answer, ended)
					}
					if c.later != nil {
						c.later(s)
					}
				})
				for when, h := range map[string]*confirm.History{"followed": h, "after a restart": confirm.NewHistory(file, nil)} {
					if answer, ended := told(t, h); answer != c.answer2 || ended != c.ended {
						t.Errorf("%s it says %q, %q; want %q, %q", when, answer, ended, c.answer2, c.ended)
					}
				}
				time.Sleep(confirm.HistoryKept + time.Minute)
				if old := h.Read(); len(old) > 0 {
					t.Errorf("a day later it still tells of %v", old)
				}
			})
		})
	}
}

func TestTheHistoryOfAnotherEnvironmentOrOfNothingIsEmpty(t *testing.T) {
	file := sentAgo(t, time.Second)
	if all := confirm.NewHistory(file, []string{"production"}).Read(); len(all) > 0 {
		t.Errorf("production has %v", all)
	}
	if all := confirm.NewHistory(filepath.Join(t.TempDir(), "none.jsonl"), nil).Read(); len(all) > 0 {
		t.Errorf("no file has %v", all)
	}
}

// A line that is being written is taken in once it is whole; a log that was put in place of another is read anew.
func TestTheHistoryFollowsTheFile(t *testing.T) {
	file := sentAgo(t, time.Second)
	h := confirm.NewHistory(file, nil)
	h.Read()
	add := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	open := func() []bool {
		var all []bool
		for _, a := range h.Read() {
			all = append(all, a.Open())
		}
		return all
	}
	add("no line at all\n" + `{"at":"2999-01-01T00:00:00Z","environment":"simulator","attempt":"A","intent":"` + string(id) + `",`)
	if got := open(); !slices.Equal(got, []bool{true}) {
		t.Errorf("with half a line: open is %v", got)
	}
	add(`"verdict":"accepted"}` + "\n")
	if got := open(); !slices.Equal(got, []bool{false}) {
		t.Errorf("with the whole line: open is %v", got)
	}
	other := sentAgo(t, time.Minute)
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	if got := open(); !slices.Equal(got, []bool{true}) {
		t.Errorf("with another file: open is %v", got)
	}
}
