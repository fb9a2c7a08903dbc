package job

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// typing is a keyboard at the end of a pipe, and what it sends.
func typing(t *testing.T) (far io.Writer, told chan tea.Msg) {
	t.Helper()
	in, out := io.Pipe()
	told = make(chan tea.Msg)
	k := NewKeyboard(in, "xterm", func(msg tea.Msg) { told <- msg })
	if err := k.Take(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		synctest.Wait()
	})
	return out, told
}

func TestKeysThatWaitComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, told := typing(t)
		for _, text := range []string{"a", "bcd", "e\x1b[Ifg"} {
			if _, err := io.WriteString(far, text); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		for _, want := range []string{"a", "bcde", "focus", "fg"} {
			got := ""
			switch msg := (<-told).(type) {
			case uv.FocusEvent:
				got = "focus"
			case KeysMsg:
				for _, key := range msg {
					got += key.String()
				}
			}
			if got != want {
				t.Errorf("got %q, not %q", got, want)
			}
		}
	})
}

func TestAPasteThatDoesNotEndIsTold(t *testing.T) {
	const most = unendedAfter - time.Millisecond
	for _, c := range []struct {
		name   string
		pieces []string // one after another, each after the longest pause
		told   bool
	}{
		{"without its end", []string{"\x1b[200~abc"}, true},
		{"with keys after it", []string{"\x1b[200~abc", "j", "q"}, true},
		{"that comes slowly", []string{"\x1b[200~abc", "def", "ghi\x1b[201~"}, false},
		{"that comes at once", []string{"\x1b[200~abc\x1b[201~"}, false},
		{"of nothing", []string{"abc"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, told := typing(t)
				var unended atomic.Int32
				go func() {
					for {
						select {
						case msg := <-told:
							if _, is := msg.(UnendedPasteMsg); is {
								unended.Add(1)
							}
						case <-t.Context().Done():
							return
						}
					}
				}()
				for i, piece := range c.pieces {
					if _, err := io.WriteString(far, piece); err != nil {
						t.Fatal(err)
					}
					if time.Sleep(most); unended.Load() > 0 {
						t.Errorf("told too early, after piece %d", i+1)
					}
				}
				time.Sleep(time.Hour)
				if n := unended.Load(); (n == 1) != c.told {
					t.Errorf("told %d times", n)
				}
			})
		})
	}
}
