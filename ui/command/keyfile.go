package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
)

// readSecretFile is a file's secret, without the line break that editors append. Its error does not repeat a name that
// may be the secret itself, given where its file belongs: it may hold slashes, but rarely begins with one.
func readSecretFile(path string) (string, error) {
	content, err := readGiven(path, api.SecretText)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		_, missing := os.Lstat(path)
		if missing != nil && (!filepath.IsAbs(path) || api.MaskAddress(api.Scrub(path)) != api.Scrub(path)) {
			err = fmt.Errorf("%w: give the name of a file that holds the secret, not the secret itself", failed.Err)
		}
	}
	return strings.TrimRight(string(content), "\r\n"), err
}

// followKey takes over each new key in the key's file, until ctx ends.
func (s *session) followKey(ctx context.Context) error {
	path := s.settings.keyFile()
	if path == "" {
		return nil
	}
	if err := followFile(ctx, path, s.readKey); err != nil {
		s.store.Report(account.AlertKey, fmt.Errorf("a new API key in its file will not be noticed: %w", err))
	}
	return nil
}

// readKey takes the key from its file. If that is unusable, the old key stays and an
// alert says why.
func (s *session) readKey() {
	path := s.settings.keyFile()
	if path == "" {
		return
	}
	text, err := readSecretFile(path)
	key := api.NewSecret(text)
	if err == nil && !s.client.Uses(key) {
		if err = s.client.UseKey(key); err == nil {
			s.watcher.TryKey()
		}
	}
	if err != nil {
		err = fmt.Errorf("the API key in %s cannot be used: %w", path, err)
	}
	s.store.Report(account.AlertKey, err)
}

// tryKey rereads a key that the service refuses, and tries it at once.
func (s *session) tryKey() {
	s.readKey()
	s.watcher.TryKey()
}
