package dashboard

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/job"
)

func TestSuspendIsHeardFromAnywhere(t *testing.T) {
	cases := []struct {
		name string
		keys []string
	}{
		{"on the board", nil},
		{"in the detail", []string{"enter"}},
		{"while a filter is typed", []string{"/", "a"}},
		{"while an id is typed", []string{"i", "c"}},
		{"in the help", []string{"?"}},
		{"in the palette", []string{":"}},
		{"in a menu", []string{"E"}},
		{"in the dialog with money behind it", []string{"c"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36, armed(&guard{}))
			press(m, c.keys...)
			before := screen(m)
			if press(m, "ctrl+z") == nil {
				t.Error("nothing comes of the key")
			}
			if got := screen(m); got != before {
				t.Errorf("the key has changed the screen:\n%s", got)
			}
		})
	}
}

func TestWhatIsTypedInTheShellConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
		m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
		press(m, "c")
		rest(m)
		press(m, "ctrl+z")
		time.Sleep(time.Minute)
		m.Update(job.ResumedMsg{})
		if press(m, "C"); len(g.asked) > 0 || m.dialog.confirm() == nil {
			t.Fatal("a key confirmed that the terminal has not answered behind since it came back")
		}
		rest(m)
		settle(m, press(m, "C"))
		if len(g.asked) != 1 {
			t.Errorf("confirmed %d times by a key after a rest, want once", len(g.asked))
		}
		m.confirms.running.Wait()
	})
}

func TestNothingIsSuspendedWhileAConfirmIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		g := &guard{answer: func(context.Context) confirm.Outcome {
			<-answer
			return confirm.Outcome{Verdict: confirm.Accepted}
		}}
		m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
		press(m, "c")
		rest(m)
		press(m, "C", "esc")
		if press(m, "ctrl+z") != nil || !strings.Contains(screen(m), "a confirm is running: suspend once its outcome is known") {
			t.Errorf("suspended with an order on its way:\n%s", screen(m))
		}
		close(answer)
		m.confirms.running.Wait()
		m.Update(outcomeMsg{m.confirms.runs[g.asked[0].ID], confirm.Outcome{Verdict: confirm.Accepted}})
		if press(m, "ctrl+z") == nil {
			t.Error("not suspended once the outcome is known")
		}
	})
}
