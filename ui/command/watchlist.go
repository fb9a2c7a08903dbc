package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Bounds of a watch list.
const (
	mostWatched    = 10_000
	mostListBytes  = 4 << 20
	listErrorsTold = 3
)

// fromStdin names the input of a command instead of a file.
const fromStdin = "-"

// checkID refuses what cannot be the id of an intent.
func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("an id is empty")
	case len(id) > api.MaxID:
		return fmt.Errorf("%.20q… is no id: it is longer than %d bytes", id, api.MaxID)
	case strings.ContainsFunc(id, unicode.IsSpace):
		return fmt.Errorf("%.60q is no id: it contains a space", id)
	case strings.ContainsAny(id, `/?\`) || id == "." || id == "..":
		return fmt.Errorf("%.60q is no id but looks like a path", id)
	case string(api.ScrubID(id)) != id:
		return fmt.Errorf("%.60q is no id: it contains characters that cannot be shown", id)
	}
	return nil
}

// parseWatchList reads one id a line; what follows a # is a comment. With an
// error it returns the ids of the lines that are right.
func parseWatchList(r io.Reader) ([]string, error) {
	var ids []string
	var bad []error
	known := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(r, mostListBytes))
	for n := 1; lines.Scan(); n++ {
		id := uncommented(lines.Text(), n)
		if id == "" || known[id] {
			continue
		}
		if err := checkID(id); err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		if len(ids) == mostWatched {
			bad = append(bad, fmt.Errorf("line %d: more than %d ids", n, mostWatched))
			break
		}
		known[id] = true
		ids = append(ids, id)
	}
	if err := lines.Err(); err != nil {
		bad = append(bad, err)
	}
	return ids, inOneLine(bad)
}

func uncommented(line string, number int) string {
	if number == 1 {
		line = strings.TrimPrefix(line, "\ufeff") // that some editors begin files with
	}
	if at := strings.IndexByte(line, '#'); at == 0 || at > 0 && unicode.IsSpace(rune(line[at-1])) {
		line = line[:at]
	}
	return strings.TrimSpace(line)
}

// inOneLine tells the first few of several errors.
func inOneLine(bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	var told []string
	for _, err := range bad[:min(len(bad), listErrorsTold)] {
		told = append(told, err.Error())
	}
	if more := len(bad) - len(told); more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(told, "; "))
}

// takeWatchList reads the ids of the file that --watch-ids names. stdin is nil
// where the keys come from there.
func (s *settings) takeWatchList(stdin io.Reader) error {
	for _, id := range s.WatchIDs {
		if err := checkID(id); err != nil {
			return usagef("watch_id: %w", err)
		}
	}
	var ids []string
	var err error
	switch {
	case s.WatchList == "":
		return nil
	case s.WatchList == fromStdin && stdin == nil:
		return usagef("--watch-ids - reads the standard input, where the dashboard's keys come from: name a file, or use --plain")
	case s.WatchList == fromStdin:
		if ids, err = parseWatchList(stdin); err != nil {
			return usagef("watch list on the standard input: %w", err)
		}
	default:
		if ids, err = readWatchList(s.WatchList); err != nil {
			return usage(err)
		}
	}
	s.WatchIDs = append(s.WatchIDs, ids...)
	return nil
}

func readWatchList(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("watch_ids: %w", err)
	}
	defer file.Close()
	ids, err := parseWatchList(file)
	if err != nil {
		return ids, fmt.Errorf("watch list %s: %w", filepath.Base(path), err)
	}
	return ids, nil
}

// followWatchList watches ids that are added to the file while it runs. One that
// is removed stays in the picture, as everything does that is known. Until a bad
// line is mended an alert tells of it; the others count.
func (s *session) followWatchList(ctx context.Context) error {
	path := s.settings.WatchList
	if path == "" || path == fromStdin {
		return nil
	}
	watched := slices.Clone(s.settings.WatchIDs)
	err := followFile(ctx, path, func() {
		ids, err := readWatchList(path)
		s.store.Report(account.AlertList, err)
		for _, id := range ids {
			if !slices.Contains(watched, id) {
				watched = append(watched, id)
				s.watcher.Watch(api.ScrubID(id))
			}
		}
	})
	if err != nil {
		s.store.Report(account.AlertList, fmt.Errorf("new ids in the watch list will go unnoticed: %w", err))
	}
	return nil
}
