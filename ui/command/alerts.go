package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// programEnvironment is the environment for the programs that tillwatch starts:
// without its own variables and without those that hold a key or token of these
// settings.
func (s settings) programEnvironment(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, variablePrefix) {
			return true
		}
		return slices.ContainsFunc(s.secrets(), func(secret api.Secret) bool {
			hidden := secret.Reveal()
			return hidden != "" && value == hidden || len(hidden) >= leastRedacted && strings.Contains(value, hidden)
		})
	})
}

// sendAlerts gives alerts to the configured program while the session runs.
func (s *session) sendAlerts(o screenOptions) part {
	if !o.kept || len(s.settings.AlertCommand) == 0 {
		return untilDone
	}
	sender := attention.NewSender(attention.Config{
		Command: s.settings.AlertCommand, Environ: s.settings.programEnvironment(os.Environ()), Live: s.settings.AlertCommandLive,
		Source: restoredStore{s.store, s.restored}, File: s.attention,
		Environment: s.client.Environment, Account: s.settings.host(),
		Report: func(err error) { s.store.Report(account.AlertSending, err) },
	})
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
