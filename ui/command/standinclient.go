package command

import (
	"errors"
	"time"

	"tillwatch/api"
)

// standInClient reaches the stand-in that the settings name. That it is one shows
// with its first answer.
func standInClient(s settings) (*api.Client, error) {
	s.RelayURL = "" // it is not asked
	if err := s.requireAccount(); err != nil {
		return nil, err
	}
	return s.newClient(api.Config{Timeout: time.Minute}) // moving the clock by weeks takes its time
}

// onStandIn says what to do where no stand-in answered.
func onStandIn(err error) error {
	if errors.Is(err, api.ErrNotStandIn) {
		return usagef("%w, and this is done to a stand-in alone: run tillwatch simulate, and give its address with --api-url", err)
	}
	return err
}
