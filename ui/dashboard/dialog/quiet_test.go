package dialog

import (
	"testing"
	"time"
)

// The cases press keys and answer questions by the letters of a script: "." lets a
// quiet time pass and asks what is next, "k" is a key, "a" an answer of the
// terminal, "s" the end of the wait for one, "S" the same after a stall.
func TestKeysCountOnceTheTerminalHasAnsweredBehindThem(t *testing.T) {
	cases := []struct {
		name, script  string
		answers       bool // the terminal has answered before
		counts, asked bool
	}{
		{"at the opening", "", false, false, false},
		{"after a quiet time alone", ".", false, false, true},
		{"after the answer", ".a", false, true, true},
		{"after an answer to nothing", "a", false, false, false},
		{"with a key between question and answer", ".ka", false, false, true},
		{"and after the answer to the next question", ".ka.a", false, true, true},
		{"on a terminal that never answers", ".s", false, true, true},
		{"on one that does, but not this time", ".s", true, false, true},
		{"on one that answers at the second time", ".sa", true, true, true},
		{"on a silent one after a stall", ".S", false, false, true},
		{"on a silent one with a key after the question", ".ks", false, false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q, now, asked := &Quiet{answers: c.answers}, opened, false
			step := q.Begin(now)
			for _, letter := range c.script {
				switch letter {
				case '.':
					now = now.Add(quietFor)
					step = q.Waited(now)
				case 'k':
					now = now.Add(time.Millisecond)
					q.press("x", now)
				case 'a':
					now = now.Add(time.Millisecond)
					step = q.Answered(now, true)
				case 's':
					now = now.Add(AnswerWithin)
					step = q.Silent(now)
				case 'S':
					now = now.Add(AnswerWithin + time.Second)
					step = q.Silent(now)
				}
				asked = asked || step.Ask
			}
			if q.Proven() != c.counts || asked != c.asked {
				t.Errorf("keys count: %t, want %t; the terminal was asked: %t, want %t", q.Proven(), c.counts, asked, c.asked)
			}
			if !q.Proven() && c.script == "" && step.Wait != quietFor {
				t.Errorf("it waits for %v, want %v", step.Wait, quietFor)
			}
		})
	}
}

func TestAKeyThatConfirmsComesAfterAPause(t *testing.T) {
	cases := []struct {
		name        string
		first, next string
		after       time.Duration
		want        bool
	}{
		{"another key at once", "x", "C", quietFor - time.Millisecond, false},
		{"another key after a pause", "x", "C", quietFor, true},
		{"the same key, held down", "C", "C", quietSame - time.Millisecond, false},
		{"the same key, pressed again", "C", "C", quietSame, true},
	}
	for _, c := range cases {
		q := quiet()
		q.press(c.first, opened)
		if _, got := q.press(c.next, opened.Add(c.after)); got != c.want {
			t.Errorf("%s: confirms %t, want %t", c.name, got, c.want)
		}
	}
}
