package job

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAProgramIsNotSuspendedWhereNobodyCouldContinueIt(t *testing.T) {
	for _, c := range []struct {
		name       string
		noShell    bool
		confirming bool
		want       string
	}{
		{"under a shell", false, false, ""},
		{"without one", true, false, "there is no shell here"},
		{"with an order on its way", false, true, "a confirm is running"},
	} {
		j := New(context.Background())
		j.NoShell = c.noShell
		got := j.Disabled(c.confirming)
		if !suspendPossible {
			c.want = "this system cannot suspend"
		}
		if !strings.HasPrefix(got, c.want) || got == "" != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhetherTheProgramWasStoppedIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		name string
		wake bool
		want bool
	}{
		{"and continued", true, true},
		{"not at all", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := New(context.Background())
			if j.wake() {
				t.Errorf("%s: it was waited for before it was stopped", c.name)
			}
			j.waits.Store(true)
			if c.wake && !j.wake() {
				t.Errorf("%s: it was not waited for", c.name)
			}
			from := time.Now()
			if got := j.awaitContinued(); got != c.want {
				t.Errorf("%s: stopped %t, want %t", c.name, got, c.want)
			}
			if waited := time.Since(from); waited > stopsWithin+heardWithin {
				t.Errorf("%s: that took %v", c.name, waited)
			}
		})
	}
}
