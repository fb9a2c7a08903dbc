package command

import (
	"context"
	"fmt"
	"os"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// sendAlerts gives alerts to the configured program while the session runs.
func (s *session) sendAlerts(o screenOptions) part {
	if !o.kept || len(s.settings.AlertCommand) == 0 {
		return untilDone
	}
	sender := &attention.Sender{
		Command: s.settings.AlertCommand, Environ: s.settings.Environ(os.Environ()), Live: s.settings.AlertCommandLive,
		Source: restoredStore{s.store, s.restored}, File: s.attention,
		Environment: s.client.Environment, Account: s.settings.Host(),
		Report: func(err error) { s.store.Report(account.AlertSending, err) },
	}
	return sender.Run
}

// attend opens the file of acknowledged and muted alerts.
func (s *session) attend(o screenOptions) part {
	if !o.kept {
		return untilDone
	}
	return func(ctx context.Context) error {
		err := s.attention.Run(ctx)
		if failed := s.attention.Err(); failed != nil {
			fmt.Fprintf(o.words, "tillwatch: %v\n", failed)
		}
		return err
	}
}
