package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
)

func TestWatchListHoldsOneIDALine(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          []string
		err           string
	}{
		{"ids, comments and empty lines", "\ufeff# of order 12\r\nci_1\n\n  ci_2\t# socks\nci_1\nci#3\n", []string{"ci_1", "ci_2", "ci#3"}, ""},
		{"nothing", "", nil, ""},
		{"no line end after the last", "ci_1\nci_2", []string{"ci_1", "ci_2"}, ""},
		{"two on a line", "ci_1\nci_2 ci_3\nci_4\n", []string{"ci_1", "ci_4"}, `line 2: "ci_2 ci_3" is not an id: it contains a space`},
		{"an address", "https://service.example/ci_1", nil, "line 1: \"https://service.example/ci_1\" is not an id but looks like a path"},
		{"what steers a terminal", "a\x1b[2J", nil, `line 1: "a\x1b[2J" is not an id: it contains characters that cannot be shown`},
		{"an id without end", strings.Repeat("x", api.MaxID+1), nil, "is longer than 2048 bytes"},
		{"many bad lines", "a b\nc d\ne f\ng h\ni j\n", nil, `line 3: "e f" is not an id: it contains a space; and 2 more`},
		{"a line that is longer than any", strings.Repeat("x", 100<<10), nil, "a line is longer than 65536 bytes"},
		{"more than is read", "ci_1\n" + strings.Repeat("# a comment\n", 400_000), []string{"ci_1"}, "it is longer than 4194304 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, err := parseWatchList(strings.NewReader(c.content))
			if !slices.Equal(ids, c.want) {
				t.Errorf("ids %q, want %q", ids, c.want)
			}
			if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %v, want one line with %q", err, c.err)
			}
		})
	}
}

func FuzzWatchListYieldsIDsAlone(f *testing.F) {
	f.Add("ci_1\n# x\nci_2 # y\r\n")
	f.Add("\ufeffa b\n../x\n")
	f.Fuzz(func(t *testing.T, content string) {
		ids, err := parseWatchList(strings.NewReader(content))
		for i, id := range ids {
			if id == "" || checkID(id) != nil || slices.Contains(ids[:i], id) {
				t.Errorf("%q is taken for an id", id)
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	})
}

func TestWatchListIsTakenFromFileAndInputAndRefusedWhereItIsWrong(t *testing.T) {
	isolate(t)
	path := filepath.Join(t.TempDir(), "ids.txt")
	if err := os.WriteFile(path, []byte("ci_2\nci_3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := load(t, "--watch-id", "ci_1", "--watch-ids", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := readWatchIDs(&s, t.Context(), nil); err != nil || !slices.Equal(s.WatchIDs, []string{"ci_1", "ci_2", "ci_3"}) {
		t.Errorf("watched are %q, %v", s.WatchIDs, err)
	}
	piped := settings{WatchList: fromStdin}
	if err := readWatchIDs(&piped, t.Context(), strings.NewReader("ci_9\n")); err != nil || !slices.Equal(piped.WatchIDs, []string{"ci_9"}) {
		t.Errorf("watched are %q, %v", piped.WatchIDs, err)
	}
	for _, c := range []struct {
		s    settings
		want string
	}{
		{settings{WatchList: fromStdin}, "use --plain"},
		{settings{WatchList: path + ".none"}, "no such file"},
		{settings{WatchIDs: []string{"a b"}}, `watch_id: "a b" is not an id`},
	} {
		err := readWatchIDs(&c.s, t.Context(), nil)
		if !errors.As(err, new(*config.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a wrong usage with %q", err, c.want)
		}
	}
}

func TestWatchListIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ids.txt")
	writeFile(t, path, "ci_1\n")
	store := account.NewStore(account.StoreConfig{})
	s := &session{store: store, watcher: account.NewWatcher(account.WatcherConfig{Store: store}), settings: settings{WatchList: path, WatchIDs: []string{"ci_1"}}}
	owned(t, s.followWatchList)
	become := func(alert string, ids ...api.ID) {
		t.Helper()
		eventually(t, fmt.Sprintf("%v is known, and of alerts %q", ids, alert), func() bool {
			var known []api.ID
			for _, in := range store.Changes(0).Intents {
				known = append(known, in.ID)
			}
			slices.Sort(known)
			alerts := store.Summary().Alerts
			return slices.Equal(known, ids) && (len(alerts) == 0 && alert == "" || len(alerts) == 1 && alert != "" && strings.Contains(alerts[0].Text, alert))
		})
	}
	become("")
	writeFile(t, path, "ci_1\nci_2\nci 3\n")
	become("ids.txt: line 3", "ci_2")
	writeFile(t, path, "ci_1\nci_2\nci_3\n")
	become("", "ci_2", "ci_3")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	become("no such file", "ci_2", "ci_3")
}

func TestWhatIsAddedToTheWatchListAppearsOnTheBoardAndABadLineIsShownUntilItIsMended(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 2, nil)
	w.settings.RelayURL = "" // the list alone names intents
	w.settings.WatchList = filepath.Join(t.TempDir(), "ids")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(w.settings.WatchList, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# what the board is to watch", ids[0])
	if err := readWatchIDs(&w.settings, t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.openBoard(t, 120, 36)
	if board := w.screen.waitFor(t, `awaiting 1\b`, `Item 00`); strings.Contains(board, "Item 01") {
		t.Fatalf("what nobody named is on the board:\n%s", board)
	}
	write(ids[0], ids[1], "what is this")
	w.screen.waitFor(t, `awaiting 2\b`, `Item 01`, `⚑ .*line 3: "what is this" is not an id: it contains a space`)
	write(ids[1])
	w.screen.waitGone(t, `what is this`)
	w.screen.waitFor(t, `awaiting 2\b`, `Item 00`) // what is known stays
}
