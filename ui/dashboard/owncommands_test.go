package dashboard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
)

// ownBoard is a board with commands, and what it has run.
func ownBoard(t *testing.T, live bool, commands ...own.Command) (*Model, *[][]string) {
	t.Helper()
	var ran [][]string
	all := action.Default().Actions()
	for _, c := range commands {
		all = append(all, c.Action())
	}
	table, err := action.NewTable(all)
	if err != nil {
		t.Fatal(err)
	}
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) {
		c.Commands, c.Actions, c.Live = commands, table, live
	})
	m.own.giveOver = func(_ own.Command, argv []string) tea.Cmd {
		ran = append(ran, argv)
		return nil
	}
	return m, &ran
}

var note = own.Command{Key: "alt+n", Name: "Note it", Program: "note", Args: []string{"--id={id}", "{merchant}"}}

func TestACommandIsShownBeforeItRunsAndItsEndAfterwards(t *testing.T) {
	m, ran := ownBoard(t, false, note)
	in, _ := m.board.intentUnder()
	press(m, "alt+n")
	for _, want := range []string{"Run Note it?", "program   note", "argument  --id=" + string(in.ID), "argument  " + string(in.Merchant), "[ Cancel ]"} {
		if !strings.Contains(screen(m), want) {
			t.Errorf("no %q on\n%s", want, screen(m))
		}
	}
	press(m, "enter")
	if m.dialog.open() || len(*ran) > 0 {
		t.Fatalf("enter does not cancel the first time: ran %q", *ran)
	}
	press(m, "alt+n", "tab", "enter")
	if want := []string{"note", "--id=" + string(in.ID), string(in.Merchant)}; len(*ran) != 1 || !slices.Equal((*ran)[0], want) {
		t.Fatalf("ran %q, want %q once", *ran, want)
	}
	m.Update(ownLeftMsg{"Note it ended with exit code 3 after 1.2s", errors.New("exit status 3")})
	if got := screen(m); m.dialog.open() || !strings.Contains(got, "Note it ended with exit code 3 after 1.2s") {
		t.Errorf("its outcome is not said:\n%s", got)
	}
	press(m, "alt+n")
	if got := screen(m); m.dialog.shown == nil || !strings.Contains(got, "[ Run ]") {
		t.Errorf("the second time it does not open on Run:\n%s", got)
	}
}

func TestACommandRunsWhatWasShownWhateverChangesBehindTheDialog(t *testing.T) {
	m, ran := ownBoard(t, false, note)
	in, _ := m.board.intentUnder()
	press(m, "alt+n", "tab")
	m.board.step(1)
	press(m, "enter")
	if len(*ran) != 1 || (*ran)[0][1] != "--id="+string(in.ID) {
		t.Errorf("ran %q, and %s was shown", *ran, in.ID)
	}
}

func TestACommandIsRefusedWithAReason(t *testing.T) {
	unguarded := note
	unguarded.Unguarded = true
	allowed := unguarded
	allowed.Live = true
	parcel := own.Command{Key: "alt+n", Name: "Note it", Program: "note", Args: []string{"{tracking}"}}
	cases := []struct {
		name    string
		live    bool
		command own.Command
		keys    []string
		says    string
		runs    int
	}{
		{"where money is real", true, note, []string{"alt+n"}, "Note it does not run where money is real", 0},
		{"which is shown even where it is allowed unguarded", true, allowed, []string{"alt+n"}, "[ Cancel ]", 0},
		{"a place without a value", false, parcel, []string{"alt+n"}, "Note it: this row has no {tracking}", 0},
		{"without a row", false, note, []string{"3", "alt+n"}, "Note it: this row has no {id}", 0},
		{"in the palette", true, note, []string{":", "n", "o", "t", "e"}, "Not now: Note it does not run where money is", 0},
		{"but not unguarded in a sandbox", false, unguarded, []string{"alt+n"}, "INTENTS", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, ran := ownBoard(t, c.live, c.command)
			press(m, c.keys...)
			got := screen(m)
			if !strings.Contains(got, c.says) || len(*ran) != c.runs {
				t.Errorf("ran %q; no %q on\n%s", *ran, c.says, got)
			}
		})
	}
}

func TestACommandIsInHelpAndFooter(t *testing.T) {
	m, _ := ownBoard(t, false, note)
	m.Update(tea.WindowSizeMsg{Width: 300, Height: 60})
	if got := screen(m); !strings.Contains(got, "alt+n note it") {
		t.Errorf("not in the footer:\n%s", got)
	}
	press(m, "?")
	if got := screen(m); !strings.Contains(got, "Commands ─") || !strings.Contains(got, "Note it") {
		t.Errorf("not in the help:\n%s", got)
	}
}
