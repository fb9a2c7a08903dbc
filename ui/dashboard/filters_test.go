package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/layout"
)

// write types a text.
func write(m *Model, text string) {
	for _, r := range text {
		press(m, string(r))
	}
}

func TestAFilterThatIsNotUnderstoodSaysSoAndHidesNothing(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	press(m, "/")
	write(m, "total>")
	got := screen(m)
	if strings.Contains(got, "64 of 64") || !strings.Contains(got, "not filtered") || !strings.Contains(got, "! total>: write an amount, such as 100, 99.50 or 100usd") {
		t.Errorf("while it is typed:\n%s", got[strings.LastIndex(got, "/ total"):])
	}
	press(m, "enter")
	if m.filters.typed == nil {
		t.Fatal("it was kept although it is not understood")
	}
	write(m, "100")
	if got := screen(m); strings.Contains(got, "write an amount") || strings.Contains(got, "not filtered") || !strings.Contains(got, " of 64") || strings.Contains(got, "64 of 64") {
		t.Errorf("after it is complete:\n%s", got[strings.LastIndex(got, "/ total"):])
	}
	press(m, "enter")
	if m.filters.typed != nil || m.filters.inPane[layout.Intents] == nil {
		t.Error("enter does not keep it")
	}
}

func TestTheLastGoodFilterStaysWhileAnExpressionIsBroken(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	press(m, "/")
	write(m, "/wo.l/")
	good, _ := m.board.intents.Matches()
	if good == 0 || good == 64 {
		t.Fatalf("the expression finds %d of 64", good)
	}
	press(m, "backspace", "[")
	if got := screen(m); !strings.Contains(got, "! /wo.l[/: missing closing ] at character 5, [") {
		t.Errorf("it does not say at once what is wrong and where:\n%s", got[strings.LastIndex(got, "/ /wo"):])
	}
	if shown, _ := m.board.intents.Matches(); shown != good {
		t.Errorf("it shows %d, want the %d of the last good filter", shown, good)
	}
	if press(m, "enter"); m.filters.typed == nil {
		t.Error("a broken expression was kept")
	}
	press(m, "backspace", "/", "enter")
	if shown, _ := m.board.intents.Matches(); m.filters.typed != nil || shown != good || m.filters.inPane[layout.Intents].Text != "/wo.l/" {
		t.Errorf("mended and kept, it shows %d, want %d", shown, good)
	}
}

func TestAFilterForAgesFindsMoreAsTimeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boardOf(t, typicalShop(time.Now()), 200, 55)
		press(m, "/")
		write(m, "state:retrieving age>10m")
		press(m, "enter")
		before, _ := m.board.intents.Matches()
		time.Sleep(10 * time.Minute)
		m.Update(tickMsg{})
		after, _ := m.board.intents.Matches()
		if before != 1 || after != 3 {
			t.Errorf("%d retrieving for more than ten minutes, and %d ten minutes later; want 1 and 3", before, after)
		}
	})
}

func TestTheCursorReturnsToItsLaneWhenAFilterNoLongerEmptiesIt(t *testing.T) {
	for _, back := range []string{"esc", "ctrl+u", "enter"} {
		m := boardOf(t, typicalShop(time.Now()), 200, 55)
		press(m, "j")
		before := m.board.subject()
		press(m, "/")
		write(m, "state:failed")
		if in, _ := m.board.intentUnder(); in.State != api.Failed {
			t.Fatalf("the cursor is on %v, want one that the filter finds", m.board.subject())
		}
		found := m.board.subject()
		press(m, back)
		in, _ := m.board.intentUnder()
		switch got := m.board.subject(); {
		case back == "esc" && got != before:
			t.Errorf("taken back, the cursor is on %v, want %v again", got, before)
		case back == "ctrl+u" && in.State != api.AwaitingConfirmation:
			t.Errorf("emptied, the cursor is among %s, want its own lane", in.State)
		case back == "enter":
			if press(m, "esc"); m.board.subject() != found {
				t.Errorf("kept and cleared later, the cursor is on %v, want what was found, %v", m.board.subject(), found)
			}
		}
	}
}

func TestCtrlCEndsItWhileSomethingIsTyped(t *testing.T) {
	for _, prompt := range []string{"/", "i"} {
		m := boardOf(t, typicalShop(time.Now()), 160, 45)
		press(m, prompt, "q")
		if m.filters.typed == nil && m.jump.typed == nil {
			t.Fatalf("after %s, q is not typed", prompt)
		}
		cmd := press(m, "ctrl+c")
		if cmd == nil {
			t.Fatalf("after %s, ctrl+c does nothing", prompt)
		}
		if _, ends := cmd().(tea.QuitMsg); !ends {
			t.Errorf("after %s, ctrl+c does not end it", prompt)
		}
	}
}

func TestTheSpendersOfTheQuotaAreFiltered(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}} {
		m := boardOf(t, spentShop(time.Now()), size[0], size[1])
		press(m, "u", "/")
		write(m, "report")
		if got := screen(m); !strings.Contains(got, "1 of 7") || !strings.Contains(got, "report job") || strings.Contains(got, "checkout-worker") {
			t.Errorf("%v: not only the spender that was asked for:\n%s", size, got)
		}
		press(m, "ctrl+u")
		write(m, "endpoint:lookup")
		press(m, "enter")
		if got := screen(m); !strings.Contains(got, "1 of 7") || !strings.Contains(got, "checkout-worker") || strings.Contains(got, "POST checkout-intents ") {
			t.Errorf("%v: not only who called the endpoint:\n%s", size, got)
		}
		press(m, "/", "ctrl+u")
		write(m, "nobody")
		if press(m, "enter"); !strings.Contains(screen(m), "nothing matches") {
			t.Errorf("%v: nothing says that nothing matches:\n%s", size, screen(m))
		}
		if press(m, "esc"); !strings.Contains(screen(m), "checkout-worker") || !strings.Contains(screen(m), "SPENDERS") {
			t.Errorf("%v: esc does not show all again:\n%s", size, screen(m))
		}
	}
}

func TestWhatIsTypedWhereNothingCanBeFilteredDoesNothing(t *testing.T) {
	m := boardOf(t, spentShop(time.Now()), 80, 24)
	press(m, "3")
	focus := m.board.focus
	press(m, "/")
	write(m, "xcAiq1")
	got := screen(m)
	if !strings.Contains(got, "/ xcAiq1") || !strings.Contains(got, "there are no spenders on the screen to filter: u shows them") {
		t.Errorf("it does not say why nothing is filtered:\n%s", got)
	}
	if m.dialog.open() || m.jump.typed != nil || m.board.focus != focus || len(m.marks.set) > 0 {
		t.Errorf("what was typed acted:\n%s", screen(m))
	}
	if press(m, "esc"); m.filters.typed != nil || m.filters.inPane[focus] != nil {
		t.Error("esc does not close it")
	}
}

func TestAnExpressionLooksAtManyRowsBesideTheKeys(t *testing.T) {
	m := boardOf(t, manyShop(2*manyRows), 160, 45)
	shown := func() int {
		n, _ := m.board.intents.Matches()
		return n
	}
	press(m, "/")
	write(m, "sofa")
	sofas := shown()
	press(m, "esc", "/", "/", "s")
	all := shown()
	looks := func(cmd tea.Cmd) tea.Msg {
		t.Helper()
		if got := screen(m); cmd == nil || !strings.Contains(got, "… of 2,0") || shown() != all {
			t.Fatalf("it does not look beside the keys, %d are shown of %d:\n%s", shown(), all, got)
		}
		return cmd()
	}
	early := looks(filterKey(m, "."))
	look := filterKey(m, "f")
	found := make(chan tea.Msg)
	go func() { found <- look() }()
	m.Update(changesMsg{manyShop(2 * manyRows).changes})
	late := <-found
	m.Update(early)
	if got := screen(m); !strings.Contains(got, "… of 2,0") {
		t.Errorf("what an earlier key looked for is taken for this:\n%s", got)
	}
	m.Update(late)
	if got := screen(m); strings.Contains(got, "… of 2,0") || shown() != sofas {
		t.Errorf("found, it shows %d of %d:\n%s", shown(), sofas, got)
	}
	hidden := filterKey(m, "x")()
	if press(m, "enter"); m.filters.typed != nil || shown() != sofas {
		t.Errorf("enter waits for the rows, %d are shown", shown())
	}
	m.Update(tickMsg{})
	if m.Update(hidden); shown() != 0 {
		t.Errorf("found after enter, %d are shown", shown())
	}
	press(m, "/", "backspace", "enter", "/")
	hidden = filterKey(m, "x")()
	press(m, "esc")
	if m.Update(hidden); shown() != 0 || m.filters.inPane[layout.Intents].Text != "/s.fx" {
		t.Errorf("esc brings back %d", shown())
	}
	press(m, "/", "backspace")
	hidden = filterKey(m, "y")()
	press(m, "enter", "esc")
	if m.Update(hidden); shown() != all || m.filters.inPane[layout.Intents] != nil {
		t.Errorf("cleared before they were found, it shows %d of %d", shown(), all)
	}
}

func TestAnExpressionLooksAtManyRowsBesideTheKeysWhereverItComesFrom(t *testing.T) {
	const text = "/s.fa/"
	many := manyShop(2 * manyRows)
	for _, c := range []struct {
		name   string
		filter func() (*Model, tea.Cmd)
	}{
		{"the palette", func() (*Model, tea.Cmd) {
			m := boardOf(t, many, 160, 45)
			return m, said(m, "filter "+text, "enter")
		}},
		{"a saved filter", func() (*Model, tea.Cmd) {
			m := boardOf(t, many, 160, 45, func(c *Config) { c.Remembered.Filters = []NamedFilter{{"sofas", "intents", text}} })
			return m, said(m, "sofas", "enter")
		}},
		{"a position", func() (*Model, tea.Cmd) {
			m := boardOf(t, many, 160, 45)
			return m, said(m, "at filter:"+text, "enter")
		}},
		{"the start", func() (*Model, tea.Cmd) {
			m := New(Config{Source: many, Filter: text})
			m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
			_, cmd := m.Update(changesMsg{many.Changes(0)})
			return m, cmd
		}},
		{"a picture that starts over", func() (*Model, tea.Cmd) {
			m := boardOf(t, manyShop(10), 160, 45)
			said(m, "filter "+text, "enter")
			over := manyShop(2 * manyRows).Changes(0)
			over.Whole = true
			_, cmd := m.Update(changesMsg{over})
			return m, cmd
		}},
		{"a picture that starts over while the screen is frozen", func() (*Model, tea.Cmd) {
			m := boardOf(t, manyShop(10), 160, 45)
			said(m, "filter "+text, "enter")
			press(m, "space")
			over := manyShop(2 * manyRows).Changes(0)
			over.Whole = true
			m.Update(changesMsg{over})
			return m, press(m, "space")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, look := c.filter()
			if shown, all := m.board.intents.Matches(); look == nil || shown != all {
				t.Fatalf("it does not look beside the keys: %d are shown of %d", shown, all)
			}
			m.Update(look())
			if shown, all := m.board.intents.Matches(); shown == 0 || shown == all || m.filters.inPane[layout.Intents].Text != text {
				t.Errorf("found, it shows %d of %d", shown, all)
			}
		})
	}
}

// filterKey types a key of a filter, and returns what follows it.
func filterKey(m *Model, name string) tea.Cmd {
	_, cmd := m.Update(tea.KeyPressMsg{Text: name, Code: rune(name[0])})
	return cmd
}

func TestAFilterGoesOnAfterAWholeWord(t *testing.T) {
	m := boardOf(t, spentShop(time.Now()), 160, 45)
	press(m, "u", "w", "enter", "/")
	write(m, "status:200")
	if got := screen(m); !strings.Contains(got, `by="checkout-worker" status:200`) {
		t.Errorf("no blank stands between two words:\n%s", got)
	}
}
