package command

import (
	"context"
	"fmt"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/config"
)

// followKey takes over each new key in the key's file, until ctx ends.
func (s *session) followKey(ctx context.Context) error {
	path := s.settings.KeyFile()
	if path == "" {
		return nil
	}
	config.Follow(ctx, []string{path}, func() []string {
		s.readKey()
		return []string{path}
	})
	return nil
}

// readKey takes the key from its file. If that is unusable, the old key stays and an
// alert says why.
func (s *session) readKey() {
	path := s.settings.KeyFile()
	if path == "" {
		return
	}
	text, err := config.ReadSecret(path)
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
