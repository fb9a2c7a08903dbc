package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
)

// readSecretFile is the secret that a file holds, without the line end that
// editors add.
func readSecretFile(path string) (string, error) {
	content, err := os.ReadFile(path)
	return strings.TrimRight(string(content), "\r\n"), err
}

// followKey takes over each key that is written to the key's file, until ctx ends.
func (s *session) followKey(ctx context.Context) error {
	if s.settings.KeyFile == "" {
		return nil
	}
	if err := followFile(ctx, s.settings.KeyFile, s.readKey); err != nil {
		s.store.Report(account.AlertKey, fmt.Errorf("a new API key in its file will go unnoticed: %w", err))
	}
	return nil
}

// readKey takes the key that its file holds now. As long as that is none that can
// be used, the old one stays and an alert says why.
func (s *session) readKey() {
	if s.settings.KeyFile == "" {
		return
	}
	text, err := readSecretFile(s.settings.KeyFile)
	key := api.NewSecret(text)
	if err == nil && !s.client.Uses(key) {
		if err = s.client.UseKey(key); err == nil {
			s.watcher.TryKey()
		}
	}
	if err != nil {
		err = fmt.Errorf("the API key in %s cannot be used: %w", s.settings.KeyFile, err)
	}
	s.store.Report(account.AlertKey, err)
}

// shortened writes a path in the user's home as people do.
func shortened(path string) string {
	home, err := os.UserHomeDir()
	if rest, within := strings.CutPrefix(path, home+string(os.PathSeparator)); err == nil && within {
		path = "~" + string(os.PathSeparator) + rest
	}
	return string(api.Scrub(path))
}

// tryKey reads a key again that the service refuses, and tries it at once.
func (s *session) tryKey() {
	s.readKey()
	s.watcher.TryKey()
}
