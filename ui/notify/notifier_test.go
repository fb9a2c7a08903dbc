package notify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// watch drives a notifier through a made-up time.
type watch struct {
	t   *testing.T
	n   *Notifier
	now time.Time
	c   account.Changes // the next one; the summary stays
}

func newWatch(t *testing.T) *watch {
	w := &watch{t: t, n: New(OSC9, func(account.Alert) bool { return false }), now: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)}
	w.c.Summary.Feed.State = account.FeedLive
	w.observe() // the first picture
	return w
}

func (w *watch) observe(intents ...*account.Intent) {
	w.c.At, w.c.Intents = w.now, intents
	w.n.Observe(&w.c)
}

func (w *watch) intent(id api.ID, state api.IntentState) *account.Intent {
	return &account.Intent{ID: id, State: state, Since: w.now, Product: "Wool Socks", Total: &api.Money{Currency: "USD", Subunits: 4452}}
}

func (w *watch) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *watch) want(text string) {
	w.t.Helper()
	if text != "" {
		text = "\x1b]9;tillwatch: " + text + "\a"
	}
	if got := w.n.Take(w.now); got != text {
		w.t.Errorf("at %s it says %q, want %q", w.now.Format(time.TimeOnly), got, text)
	}
}

const lost = "the relay cannot be reached; open intents are polled"

func (w *watch) relay(down bool) {
	w.c.Summary.Alerts = []account.Alert{{Kind: account.AlertStuck}}
	if down {
		w.c.Summary.Alerts = append(w.c.Summary.Alerts, account.Alert{Kind: account.AlertRelay, Text: lost})
	}
	w.observe()
}

func (w *watch) fail(id api.ID, text string) {
	w.c.Summary.Alerts = append(w.c.Summary.Alerts, account.Alert{Kind: account.AlertFailed, Intent: id, Text: text})
	w.observe()
}

func TestWhatIsMutedNotifiesNobody(t *testing.T) {
	w, muted := newWatch(t), account.AlertFailed
	w.n.muted = func(a account.Alert) bool { return a.Kind == muted }
	w.n.Blur()
	w.observe(w.intent("b", api.AwaitingConfirmation))
	w.fail("a", "Wool Socks failed")
	w.pass(time.Minute)
	w.want("Wool Socks awaits confirmation, 44.52 USD")
	muted = account.AlertAwaiting
	w.observe(w.intent("d", api.AwaitingConfirmation))
	w.fail("c", "Wool Socks failed")
	w.pass(time.Minute)
	w.want("Wool Socks failed")
	muted = account.AlertRelay
	w.relay(true)
	w.pass(time.Minute)
	w.want("")
	w.relay(false)
	w.pass(time.Minute)
	w.want("")
	muted = ""
	w.relay(true)
	w.pass(time.Minute)
	w.want(strings.ReplaceAll(lost, ";", ""))
	muted = account.AlertRelay // elsewhere, while it is down
	w.relay(true)
	w.pass(time.Minute)
	w.want("")
}

func TestNothingIsSentWhileTheTerminalIsFocused(t *testing.T) {
	w := newWatch(t)
	w.observe(w.intent("a", api.AwaitingConfirmation))
	w.relay(true)
	w.pass(time.Hour)
	w.want("")

	w.n.Blur() // no notice comes afterwards of what was seen
	w.observe(w.intent("a", api.AwaitingConfirmation))
	w.pass(time.Hour)
	w.want("")

	w.observe(w.intent("b", api.AwaitingConfirmation))
	w.n.Focus()
	w.pass(time.Hour)
	w.want("")
	w.n.Blur() // nor what was gathered before the person came back
	w.want("")
}

func TestEachKindOfNewsNotifies(t *testing.T) {
	cases := []struct {
		name string
		do   func(w *watch)
		want string
	}{
		{"awaiting", func(w *watch) { w.observe(w.intent("a", api.AwaitingConfirmation)) }, "Wool Socks awaits confirmation, 44.52 USD"},
		{"awaiting, not read yet", func(w *watch) {
			w.observe(&account.Intent{ID: "a", State: api.AwaitingConfirmation})
		}, "An intent awaits confirmation"},
		{"failed", func(w *watch) { w.fail("a", "Wool Socks failed: out of stock") }, "Wool Socks failed: out of stock"},
		{"relay down", func(w *watch) { w.relay(true) }, strings.ReplaceAll(lost, ";", "")},
		{"several", func(w *watch) {
			w.observe(w.intent("a", api.AwaitingConfirmation), w.intent("b", api.AwaitingConfirmation))
			w.fail("c", "Wool Socks failed")
		}, "Wool Socks awaits confirmation, 44.52 USD, and 2 more"},
		{"nothing: placed and completed", func(w *watch) {
			w.observe(w.intent("a", api.PlacingOrder), w.intent("b", api.Completed), w.intent("c", api.RetrievingOffer))
		}, ""},
		{"nothing: confirmed before it could be told", func(w *watch) {
			w.observe(w.intent("a", api.AwaitingConfirmation))
			w.observe(w.intent("a", api.PlacingOrder))
		}, ""},
		{"nothing: the relay was back before it could be told", func(w *watch) { w.relay(true); w.relay(false) }, ""},
		{"nothing: an old state that becomes known now", func(w *watch) {
			old := w.intent("a", api.AwaitingConfirmation)
			old.Since = w.now.Add(-newsFor - time.Second)
			w.observe(old)
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWatch(t)
			w.n.Blur()
			c.do(w)
			w.want("") // more may follow at once
			w.pass(gather)
			w.want(c.want)
			w.pass(time.Hour)
			w.want("")
		})
	}
}

func TestARelayThatIsBackNotifies(t *testing.T) {
	w := newWatch(t)
	w.n.Blur()
	w.relay(true)
	w.pass(time.Minute)
	w.want(strings.ReplaceAll(lost, ";", ""))
	w.relay(false)
	w.pass(time.Minute)
	w.want("the relay is back")
}

func TestNotificationsComeSeldom(t *testing.T) {
	w := newWatch(t)
	w.n.Blur()
	var told []string
	for i := range 3000 { // ten a second, for five minutes
		w.observe(w.intent(api.ScrubID(strings.Repeat("x", i+1)), api.AwaitingConfirmation))
		if text := w.n.Take(w.now); text != "" {
			told = append(told, text)
		}
		w.pass(100 * time.Millisecond)
	}
	if len(told) != 10 {
		t.Fatalf("%d notifications in five minutes: %q", len(told), told)
	}
	if !strings.Contains(told[0], "and 20 more") || !strings.Contains(told[5], "and 299 more") {
		t.Errorf("got %q and %q, want all that gathered", told[0], told[5])
	}
}

func TestTheHistoryIsNoNews(t *testing.T) {
	n := New(Bell, func(account.Alert) bool { return false })
	n.Blur()
	now := time.Now()
	c := account.Changes{At: now, Intents: []*account.Intent{{ID: "a", State: api.AwaitingConfirmation}}}
	c.Summary.Feed.State = account.FeedReplaying
	n.Observe(&c)
	c.Summary.Feed.State, c.Intents[0] = account.FeedLive, &account.Intent{ID: "b", State: api.AwaitingConfirmation}
	n.Observe(&c) // the end of the replay
	if got := n.Take(now.Add(time.Hour)); got != "" {
		t.Errorf("got %q", got)
	}
	c.Intents[0] = &account.Intent{ID: "c", State: api.AwaitingConfirmation}
	n.Observe(&c)
	if got := n.Take(now.Add(time.Hour)); got != "\a" {
		t.Errorf("got %q, want the bell", got)
	}
}

func TestOffSendsNothing(t *testing.T) {
	for _, m := range []Method{Off, ""} {
		w := newWatch(t)
		w.n.method = m
		w.n.Blur()
		w.relay(true)
		w.pass(time.Hour)
		w.want("")
	}
}

func TestAutoFollowsTheTerminal(t *testing.T) {
	cases := []struct {
		environment string
		want        Method
	}{
		{"TERM=xterm-256color", Bell},
		{"", Bell},
		{"TERM=dumb", Off},
		{"TERM=xterm-kitty KITTY_WINDOW_ID=1", OSC99},
		{"TERM=xterm-256color TERM_PROGRAM=iTerm.app", OSC9},
		{"TERM=xterm-ghostty TERM_PROGRAM=ghostty", OSC9},
		{"TERM=foot", OSC777},
		{"TERM=foot-extra", OSC777},
		{"TERM=rxvt-unicode-256color", OSC777},
		{"TERM=tmux-256color TMUX=/tmp/t TERM_PROGRAM=tmux KITTY_WINDOW_ID=1", Bell},
		{"TERM=screen STY=1.pts", Bell},
	}
	for _, c := range cases {
		environment := func(name string) string {
			for pair := range strings.FieldsSeq(c.environment) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		if got := Auto.Resolve(environment); got != c.want {
			t.Errorf("%q: %s, want %s", c.environment, got, c.want)
		}
		if got := OSC9.Resolve(environment); got != OSC9 {
			t.Errorf("%q: a chosen method became %s", c.environment, got)
		}
	}
}

func TestTheSequencesAreWhatTerminalsKnow(t *testing.T) {
	want := map[Method]string{
		Bell:   "\a",
		OSC9:   "\x1b]9;tillwatch: 2 await\a",
		OSC99:  "\x1b]99;i=tillwatch:d=0:o=unfocused;tillwatch\x1b\\\x1b]99;i=tillwatch:d=1:p=body;2 await\x1b\\",
		OSC777: "\x1b]777;notify;tillwatch;2 await\a",
		Off:    "",
	}
	for method, sequence := range want {
		if got := method.sequence("2 await"); got != sequence {
			t.Errorf("%s: %q, want %q", method, got, sequence)
		}
	}
}

func FuzzNoTextLeavesItsSequence(f *testing.F) {
	for _, text := range []string{
		"Wool Socks", "a\x1b]52;c;aGk=\x07b", "x\x9c\x1b\\y", "a;b;c", "<b>bold</b> <a href='x'>&amp;", "4;1;50", "日本語", "e\u0301", "\u202eabc", "\xff\xfe", "a\r\nb\tc", strings.Repeat("long ", 99),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		safe := strict(text)
		if strings.ContainsFunc(safe, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) || strings.ContainsAny(safe, ";<>&\\|`\"{}[]=") {
			t.Errorf("%q became %q", text, safe)
		}
		if n := len([]rune(safe)); n > maxRunes+1 {
			t.Errorf("%d characters", n)
		}
		for _, m := range []Method{OSC9, OSC99, OSC777} {
			frame := strings.SplitN(m.sequence("\x00"), "\x00", 2)[0]
			got := m.sequence(text)
			if controls := count(got); !slices.Equal(controls, count(frame)) {
				t.Errorf("%s: %q", m, got)
			}
		}
	})
}

// count lists the control bytes of a sequence in their order.
func count(sequence string) []rune {
	var controls []rune
	for _, r := range sequence {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			controls = append(controls, r)
		}
	}
	return controls
}

func TestAConfirmInDoubtAndItsEndingAreNews(t *testing.T) {
	w := newWatch(t)
	tell := func(c account.Confirm) {
		w.c.Summary.Confirms = []*account.Confirm{&c}
		w.observe()
		w.pass(time.Minute)
	}
	w.n.Blur()
	c := account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Sent: w.now, Answered: w.now}
	tell(c)
	w.want("Mug: the outcome of its confirm is unknown: do not buy it again")
	c.Reads = 7
	tell(c)
	w.want("")
	c.Ended, c.End = w.now, account.ConfirmNotDone
	tell(c)
	w.want("Mug: its confirm is settled: not taken: nothing was bought")
	tell(account.Confirm{Attempt: "B", Intent: "ci_2", Sent: w.now, Ended: w.now, End: account.ConfirmPlaced}) // never in doubt
	w.want("")
}
