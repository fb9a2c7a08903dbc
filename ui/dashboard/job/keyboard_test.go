package job

import (
	"fmt"
	"io"
	"slices"
	"strings"
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

func TestAKeyIsCalledByItsLetterOrOtherwiseByItsPlace(t *testing.T) {
	for _, c := range []struct{ name, typed, keys, text string }{
		{"Russian ctrl+c", "\x1b[1089::99;5u", "ctrl+c", ""},
		{"Russian ctrl+z", "\x1b[1103::122;5u", "ctrl+z", ""},
		{"Russian ctrl+c with caps lock and num lock", "\x1b[1089::99;197u", "ctrl+c", ""},
		{"Greek ctrl+c", "\x1b[968::99;5u", "ctrl+c", ""},
		{"Hebrew ctrl+c", "\x1b[1489::99;5u", "ctrl+c", ""},
		{"Thai alt+d, a vowel sign", "\x1b[3637::117;3u", "alt+u", ""},
		{"French ctrl+a", "\x1b[97::113;5u", "ctrl+a", ""},
		{"French ctrl+z", "\x1b[122::119;5u", "ctrl+z", ""},
		{"German ctrl+z", "\x1b[122::121;5u", "ctrl+z", ""},
		{"German ctrl+ö", "\x1b[246::59;5u", "ctrl+ö", ""},
		{"Dvorak ctrl+c", "\x1b[99::105;5u", "ctrl+c", ""},
		{"Dvorak ctrl+semicolon", "\x1b[59::122;5u", "ctrl+;", ""},
		{"Hebrew ctrl+w, a quote there", "ש\x1b[39::119;5u", "ctrl+w", ""},
		{"Dvorak ctrl+semicolon after a letter", "s\x1b[59::122;5u", "ctrl+;", ""},
		{"Dvorak ctrl+semicolon after Russian and another letter", "яs\x1b[59::122;5u", "ctrl+;", ""},
		{"American ctrl+c", "\x1b[99;5u", "ctrl+c", ""},
		{"Russian ctrl+c by the protocol of xterm", "\x1b[27;5;1089~", "ctrl+с", ""},
		{"ctrl+c without the protocol", "\x03", "ctrl+c", ""},
		{"a Russian letter", "\x1b[1103::122u", "я", "я"},
		{"a capital Russian letter", "\x1b[1103:1071:122;2u", "Я", "Я"},
		{"a capital Russian letter with its text", "\x1b[1103:1071:122;2;1071u", "Я", "Я"},
		{"a capital French letter", "\x1b[97:65:113;2u", "A", "A"},
		{"a capital French letter with caps lock", "\x1b[97::113;65u", "A", "A"},
		{"an American letter with its place", "\x1b[97::97;;97u", "a", "a"},
		{"a capital American letter with its place", "\x1b[97:65:97;2u", "A", "A"},
		{"a character of the third level", "\x1b[113;;64u", "@", "@"},
		{"what an input method wrote", "\x1b[0;;26085:26412u", "日本", "日本"},
		{"shift alone, then a letter", "\x1b[57441;2ua", "a", "a"},
		{"caps lock and num lock alone, then a letter", "\x1b[57358;65u\x1b[57360;129ua", "a", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, told := typing(t)
				if _, err := io.WriteString(far, c.typed); err != nil {
					t.Fatal(err)
				}
				keys := (<-told).(KeysMsg)
				last := keys[len(keys)-1]
				if last.String() != c.keys || last.Text != c.text || modifies(uv.KeyPressEvent(keys[0])) {
					t.Errorf("%v comes, which types %q; want %s, which types %q", keys, last.Text, c.keys, c.text)
				}
			})
		})
	}
}

func TestASequenceThatComesInPiecesIsNoText(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string // one after another, each after a long pause
		want   []string
	}{
		{"a click", []string{"a\x1b[<0", ";40;1", "2M", "b"}, []string{"a", "click 39,11", "b"}},
		{"the terminal's attributes", []string{"\x1b[?62;", "22c"}, []string{"[62 22]"}},
		{"a key with a modifier", []string{"\x1b[1;5", "A"}, []string{"ctrl+up"}},
		{"a paste", []string{"\x1b[20", "0~abc\x1b[2", "01~"}, []string{"{}", "paste abc", "{}"}},
		{"the colour behind the text, ended by a bell", []string{"\x1b]11;", "rgb:1e1e/1e", "1e/1e1e", "\aj"}, []string{"#1e1e1e", "j"}},
		{"the colour behind the text, ended by a string terminator", []string{"\x1b]11;rgb:1e1e/", "1e1e/1e1e\x1b", "\\j"}, []string{"#1e1e1e", "j"}},
		{"keys that only look like one", []string{"\x1b", "[", "1"}, []string{"esc", "[", "1"}},
		{"a character", []string{"a\xe6", "\x97", "\xa5b"}, []string{"a", "日", "b"}},
		{"a pasted character, whose end would begin a string", []string{"\x1b[200~$\xf0\x91\x99", "\x98\x1b[201~j"}, []string{"{}", "paste $𑙘", "{}", "j"}},
		{"alt and a bracket", []string{"\x1b[", "j"}, []string{"alt+[", "j"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, told := typing(t)
				var got []string
				go func() {
					for {
						select {
						case msg := <-told:
							got = append(got, namesOf(msg)...)
						case <-t.Context().Done():
							return
						}
					}
				}()
				for _, piece := range c.pieces {
					if _, err := io.WriteString(far, piece); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				synctest.Wait()
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, not %q", got, c.want)
				}
			})
		})
	}
}

// namesOf are words for what the keyboard tells.
func namesOf(msg tea.Msg) (names []string) {
	switch msg := msg.(type) {
	case KeysMsg:
		for _, key := range msg {
			names = append(names, key.String())
		}
		return names
	case uv.MouseClickEvent:
		return []string{fmt.Sprintf("click %d,%d", msg.X, msg.Y)}
	case uv.PasteEvent:
		return []string{"paste " + msg.Content}
	}
	return []string{fmt.Sprint(msg)}
}

func TestKeysEndAnAnswerWhoseEndIsLost(t *testing.T) {
	for _, keys := range []string{"q", strings.Repeat("f", mostAnswered+1)} {
		if text := "\x1b]11;rgb:1e1e/" + keys; unfinished.MatchString(text) {
			t.Errorf("%q waits for more", text)
		}
	}
}

func TestOfALongPasteOnlyTheBeginningComes(t *testing.T) {
	const begin, end = "\x1b[200~", "\x1b[201~"
	text := strings.Repeat("wool socks ", 1+mostPasted/4)
	for _, c := range []struct {
		name   string
		typed  string
		pieces int // bytes at a time
		pasted string
	}{
		{"short", begin + "wool" + end + "q", 4096, "wool"},
		{"as long as is taken", begin + text[:mostPasted] + end + "q", 4096, text[:mostPasted]},
		{"one longer", begin + text[:mostPasted+1] + end + "q", 4096, text[:mostPasted]},
		{"long", begin + text + end + "q", 4096, text[:mostPasted]},
		{"long, in odd pieces", begin + text + end + "q", 7, text[:mostPasted]},
		{"long, byte by byte", begin + text + end + "q", 1, text[:mostPasted]},
		{"long, with what looks like an end", begin + text + "\x1b[201\x1b[20" + end + "q", 3, text[:mostPasted]},
		{"after another", begin + text + end + begin + "wool" + end + "q", 4096, text[:mostPasted] + "wool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, told := typing(t)
				go func() {
					for piece := range slices.Chunk([]byte(c.typed), c.pieces) {
						if _, err := far.Write(piece); err != nil {
							t.Error(err)
						}
					}
				}()
				pasted := ""
				for {
					switch msg := (<-told).(type) {
					case uv.PasteEvent:
						pasted += msg.Content
					case KeysMsg:
						if len(msg) != 1 || msg[0].String() != "q" {
							t.Errorf("%d keys came, the first is %s", len(msg), msg[0])
						}
						if pasted != c.pasted {
							t.Errorf("%d bytes were pasted, want %d", len(pasted), len(c.pasted))
						}
						return
					}
				}
			})
		})
	}
}

// TestALongPasteIsCutWhoeverReadIt: Windows' reader takes its keys from nowhere but the
// console, so it makes one paste of all.
func TestALongPasteIsCutWhoeverReadIt(t *testing.T) {
	text := strings.Repeat("wool socks ", mostPasted)
	for name, c := range map[string]struct{ pasted, want string }{
		"short":                               {"wool", "wool"},
		"at the bound":                        {text[:mostPasted], text[:mostPasted]},
		"long":                                {text, text[:mostPasted]},
		"long, with letters across the bound": {"o" + strings.Repeat("日", mostPasted), "o" + strings.Repeat("日", mostPasted/len("日"))},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			k := NewKeyboard(nil, "xterm", func(msg tea.Msg) { got = msg.(uv.PasteEvent).Content })
			events := make(chan uv.Event, 1)
			events <- uv.PasteEvent{Content: c.pasted}
			close(events)
			k.pass(&reading{}, events)
			if got != c.want {
				t.Errorf("%d bytes were pasted, want %d", len(got), len(c.want))
			}
		})
	}
}

func TestKeysDoNotKeepAPasteOpen(t *testing.T) {
	for _, c := range []struct {
		name  string
		piece string // every tenth of a second
		told  bool
	}{
		{"keys that are typed", "q", true},
		{"a slow line", strings.Repeat("x", 12), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, told := typing(t)
				time.Sleep(time.Hour)
				go io.WriteString(far, "\x1b[200~")
				began := time.Now()
				for time.Since(began) < time.Minute {
					select {
					case msg := <-told:
						if _, ok := msg.(UnendedPasteMsg); !ok {
							continue
						}
						if !c.told || time.Since(began) > longestPaste+2*time.Second {
							t.Errorf("told after %v", time.Since(began))
						}
						return
					case <-time.After(100 * time.Millisecond):
						go io.WriteString(far, c.piece)
					}
				}
				if c.told {
					t.Error("told nothing within a minute")
				}
			})
		})
	}
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
							if _, ok := msg.(UnendedPasteMsg); ok {
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
