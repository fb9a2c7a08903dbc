package command

import (
	"errors"
	"time"

	"tillwatch/api"
)

// standInClient makes a client of the configured stand-in. Only its first answer shows whether
// it is one.
func standInClient(s settings) (*api.Client, error) {
	if err := s.requireService(); err != nil {
		return nil, err
	}
	return s.newClient(api.Config{Timeout: time.Minute}) // moving the clock by weeks takes its time
}

// onStandIn adds what to do if no stand-in answered.
func onStandIn(err error) error {
	if errors.Is(err, api.ErrNotStandIn) {
		return usagef("%w, and this command needs a stand-in: run tillwatch simulate, and give its address with --api-url", err)
	}
	return err
}
