package command

import (
	"bufio"
	"bytes"
	"cmp"
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
	"tillwatch/ui/config"
)

// Limits of a watch list.
const (
	mostWatched    = 10_000
	mostListBytes  = 4 << 20
	mostListErrors = 3
)

// fromStdin means stdin instead of a file.
const fromStdin = "-"

// checkID refuses what cannot be an intent's id.
func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("an id is empty")
	case len(id) > api.MaxID:
		return fmt.Errorf("%.20q… is not an id: it is longer than %d bytes", id, api.MaxID)
	case strings.ContainsFunc(id, unicode.IsSpace):
		return fmt.Errorf("%.60q is not an id: it contains a space", id)
	case strings.ContainsAny(id, `/?\`) || id == "." || id == "..":
		return fmt.Errorf("%.60q is not an id but looks like a path", id)
	case string(api.ScrubID(id)) != id:
		return fmt.Errorf("%.60q is not an id: it contains characters that cannot be shown", id)
	}
	return nil
}

// parseWatchList reads one id per line; # starts a comment. With an error it also
// returns the valid lines' ids.
func parseWatchList(r io.Reader) ([]string, error) {
	var ids []string
	var bad []error
	known := map[string]bool{}
	content, err := io.ReadAll(io.LimitReader(r, mostListBytes+1))
	whole := len(content) <= mostListBytes
	if !whole {
		content = content[:bytes.LastIndexByte(content, '\n')+1]
	}
	content, wrong := api.FileText(content)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for n := 1; lines.Scan(); n++ {
		id := uncommented(lines.Text())
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
	switch err := lines.Err(); {
	case !whole:
		bad = append(bad, fmt.Errorf("it is longer than %d bytes", mostListBytes))
	case errors.Is(err, bufio.ErrTooLong):
		bad = append(bad, fmt.Errorf("a line is longer than %d bytes", bufio.MaxScanTokenSize))
	case err != nil:
		bad = append(bad, err)
	}
	return ids, inOneLine(bad)
}

func uncommented(line string) string {
	if at := strings.IndexByte(line, '#'); at == 0 || at > 0 && unicode.IsSpace(rune(line[at-1])) {
		line = line[:at]
	}
	return strings.TrimSpace(line)
}

// inOneLine joins the first few of several errors.
func inOneLine(bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	var texts []string
	for _, err := range bad[:min(len(bad), mostListErrors)] {
		texts = append(texts, err.Error())
	}
	if more := len(bad) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(texts, "; "))
}

// readWatchIDs reads the ids of --watch-ids. stdin is nil if the dashboard's keys
// come from there.
func readWatchIDs(s *settings, ctx context.Context, stdin io.Reader) error {
	for _, id := range s.WatchIDs {
		if err := checkID(id); err != nil {
			return usagef("watch_id: %w", err)
		}
	}
	ids, err := unlessInterrupted(ctx, func() ([]string, error) { return listedIDs(s.WatchList, stdin) })
	s.WatchIDs = append(s.WatchIDs, ids...)
	return err
}

func listedIDs(list string, stdin io.Reader) (ids []string, err error) {
	switch {
	case list == "":
		return nil, nil
	case list == fromStdin && stdin == nil:
		return nil, usagef("--watch-ids - reads stdin, which the dashboard needs for keys: give a file, or use --plain")
	case list == fromStdin:
		if ids, err = parseWatchList(stdin); err != nil {
			return nil, usagef("watch list on the standard input: %w", err)
		}
	default:
		if ids, err = readWatchList(list); err != nil {
			return nil, usage(err)
		}
	}
	return ids, nil
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

// followWatchList watches ids that are added to the file while it runs. Removed ids
// stay in the picture. While the file has a bad line, an alert says so, and the other
// lines count.
func (s *session) followWatchList(ctx context.Context) error {
	path := s.settings.WatchList
	if path == "" || path == fromStdin {
		return nil
	}
	watched := slices.Clone(s.settings.WatchIDs)
	config.Follow(ctx, []string{path}, func() []string {
		ids, err := readWatchList(path)
		s.store.Report(account.AlertList, err)
		for _, id := range ids {
			if !slices.Contains(watched, id) {
				watched = append(watched, id)
				s.watcher.Watch(api.ScrubID(id))
			}
		}
		return []string{path}
	})
	return nil
}
