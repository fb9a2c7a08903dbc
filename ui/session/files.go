package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
)

// followKey takes over each new key in the key's file, until ctx ends.
func (s *Session) followKey(ctx context.Context) error {
	if path := s.Settings.KeyFile(); path != "" {
		config.Follow(ctx, []string{path}, func() []string {
			s.readKey(path)
			return []string{path}
		})
	}
	return nil
}

// readKey takes the key from its file. If that is unusable, the old key stays and an alert says why.
func (s *Session) readKey(path string) {
	text, err := config.ReadSecret(path)
	key := api.NewSecret(text)
	if err == nil && !s.Client.Uses(key) {
		if err = s.Client.UseKey(key); err == nil {
			s.Watcher.TryKey()
		}
	}
	if err != nil {
		err = fmt.Errorf("the API key in %s cannot be used: %w", path, err)
	}
	s.Store.Report(account.AlertKey, err)
}

// TryKey rereads a key that the service refuses from its file, if it has one, and tries it at once.
func (s *Session) TryKey() {
	if path := s.Settings.KeyFile(); path != "" {
		s.readKey(path)
	}
	s.Watcher.TryKey()
}

// Limits of a watch list.
const (
	mostWatched    = 10_000
	mostListErrors = 3
)

// FromStdin is the watch list on stdin instead of in a file.
const FromStdin = "-"

// CheckID refuses what cannot be an intent's id.
func CheckID(id string) error {
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

// ListedIDs are the ids of the settings and of their watch list. stdin is nil if the dashboard's keys come from there.
func ListedIDs(s config.Settings, stdin io.Reader) ([]string, error) {
	for _, id := range s.WatchIDs {
		if err := CheckID(id); err != nil {
			return nil, config.Wrongf("watch_id: %w", err)
		}
	}
	var ids []string
	var err error
	switch {
	case s.WatchList == "":
	case s.WatchList != FromStdin:
		ids, err = readWatchList(s.WatchList)
	case stdin == nil:
		err = errors.New("--watch-ids - reads stdin, which the dashboard needs for keys: give a file, or use --plain")
	default:
		var content []byte
		if content, err = config.ReadAll(stdin, config.MostBytes); err == nil {
			ids, err = parseWatchList(content)
		}
		if err != nil {
			err = fmt.Errorf("watch list on the standard input: %w", err)
		}
	}
	return append(slices.Clone(s.WatchIDs), ids...), config.Wrong(err)
}

func readWatchList(path string) ([]string, error) {
	content, err := config.ReadFile(path, api.FileText)
	if err != nil {
		return nil, fmt.Errorf("watch_ids: %w", err)
	}
	ids, err := parseWatchList(content)
	if err != nil {
		return ids, fmt.Errorf("watch list %s: %w", filepath.Base(path), err)
	}
	return ids, nil
}

// parseWatchList reads one id per line; # starts a comment. With an error it also returns the valid lines' ids.
func parseWatchList(content []byte) (ids []string, err error) {
	content, err = api.FileText(content)
	if err != nil {
		return nil, err
	}
	var bad []string
	known := map[string]bool{}
	for n, line := range slices.Collect(bytes.Lines(content)) {
		id := uncommented(string(line))
		if id == "" || known[id] {
			continue
		}
		if err := CheckID(id); err != nil {
			bad = append(bad, fmt.Sprintf("line %d: %v", n+1, err))
			continue
		}
		if len(ids) == mostWatched {
			bad = append(bad, fmt.Sprintf("line %d: more than %d ids", n+1, mostWatched))
			break
		}
		known[id], ids = true, append(ids, id)
	}
	if more := len(bad) - mostListErrors; more > 0 {
		bad = append(bad[:mostListErrors], fmt.Sprintf("and %d more", more))
	}
	if len(bad) > 0 {
		err = errors.New(strings.Join(bad, "; "))
	}
	return ids, err
}

func uncommented(line string) string {
	if at := strings.IndexByte(line, '#'); at == 0 || at > 0 && unicode.IsSpace(rune(line[at-1])) {
		line = line[:at]
	}
	return strings.TrimSpace(line)
}

// followWatchList watches ids that are added to the file while it runs. Removed ids stay in the picture. While the
// file has a bad line, an alert says so, and the other lines count.
func (s *Session) followWatchList(ctx context.Context) error {
	path := s.Settings.WatchList
	if path == "" || path == FromStdin {
		return nil
	}
	watched := map[string]bool{}
	for _, id := range s.Settings.WatchIDs {
		watched[id] = true
	}
	config.Follow(ctx, []string{path}, func() []string {
		ids, err := readWatchList(path)
		s.Store.Report(account.AlertList, err)
		for _, id := range ids {
			if !watched[id] {
				watched[id] = true
				s.Watcher.Watch(api.ScrubID(id))
			}
		}
		return []string{path}
	})
	return nil
}
