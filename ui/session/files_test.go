package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

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
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, err := parseWatchList([]byte(c.content))
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
		ids, err := parseWatchList([]byte(content))
		for i, id := range ids {
			if id == "" || CheckID(id) != nil || slices.Contains(ids[:i], id) {
				t.Errorf("%q is taken for an id", id)
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	})
}

func TestWatchedIDsAreOfSettingsFileAndInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.txt")
	writeFile(t, path, "ci_2\nci_3\n")
	large := filepath.Join(t.TempDir(), "large")
	writeFile(t, large, strings.Repeat("# a comment\n", 100_000))
	for name, c := range map[string]struct {
		s          config.Settings
		stdin      io.Reader
		want, says string
	}{
		"ids and a file":     {config.Settings{WatchIDs: []string{"ci_1"}, WatchList: path}, nil, "ci_1 ci_2 ci_3", ""},
		"stdin":              {config.Settings{WatchList: FromStdin}, strings.NewReader("ci_9\n"), "ci_9", ""},
		"stdin with a fault": {config.Settings{WatchList: FromStdin}, strings.NewReader("ci 9\n"), "", "standard input: line 1"},
		"stdin of a screen":  {config.Settings{WatchList: FromStdin}, nil, "", "use --plain"},
		"no file":            {config.Settings{WatchList: path + ".none"}, nil, "", "no such file"},
		"a large file":       {config.Settings{WatchList: large}, nil, "", "larger than 1048576 bytes"},
		"what is no id":      {config.Settings{WatchIDs: []string{"a b"}}, nil, "", `watch_id: "a b" is not an id`},
	} {
		t.Run(name, func(t *testing.T) {
			ids, err := ListedIDs(c.s, c.stdin)
			if c.says == "" && (err != nil || strings.Join(ids, " ") != c.want) {
				t.Errorf("watched are %q, %v", ids, err)
			}
			if c.says != "" && (!errors.As(err, new(*config.Error)) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want a mistake in the settings with %q", err, c.says)
			}
		})
	}
}

func TestTheWatchListIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.txt")
	writeFile(t, path, "ci_1\n")
	synctest.Test(t, func(t *testing.T) {
		store := account.NewStore(account.StoreConfig{})
		s := &Session{
			Store: store, Watcher: account.NewWatcher(account.WatcherConfig{Store: store}),
			Settings: config.Settings{WatchList: path, WatchIDs: []string{"ci_1"}},
		}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go s.followWatchList(ctx)
		become := func(alert string, ids ...api.ID) {
			t.Helper()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			var known []api.ID
			for _, in := range store.Changes(0).Intents {
				known = append(known, in.ID)
			}
			slices.Sort(known)
			said := fmt.Sprint(store.Summary().Alerts)
			if !slices.Equal(known, ids) || alert == "" && said != "[]" || !strings.Contains(said, alert) {
				t.Errorf("known are %v, alerts are %s; want %v and %q", known, said, ids, alert)
			}
		}
		become("")
		writeFile(t, path, "ci_1\nci_2\nci 3\n")
		become("ids.txt: line 3", "ci_2")
		writeFile(t, path, "ci_1\nci_2\nci_3\n\n")
		become("", "ci_2", "ci_3")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		become("no such file", "ci_2", "ci_3")
	})
}
