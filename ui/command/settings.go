package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"tillwatch/ui/config"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/session"
)

// settings are the merged values of flags, environment, configuration file and defaults.
type settings = config.Settings

// accountFlags adds the flags of every command that looks at an account, and those of more settings.
func accountFlags(flags *pflag.FlagSet, more ...string) {
	config.AddFlags(flags, append(more, "api_url", "relay_url", "insecure_http", "watch_id", "watch_ids", "poll_share",
		"poll_every", "confirm_window", "keep_intents", "state_dir")...)
}

// loadSettings merges all sources, unless ctx ends first: a file may be a pipe to which nobody writes.
func loadSettings(ctx context.Context, flags *pflag.FlagSet) (settings, error) {
	return unlessInterrupted(ctx, func() (settings, error) {
		s, err := config.Load(flags, os.Environ())
		if err == nil {
			_, _, err = actionsOf(s)
		}
		return s, explainable(err)
	})
}

// readWatchIDs adds the ids of the watch list to the settings'. stdin is nil if the dashboard's keys come from there.
func readWatchIDs(s *settings, ctx context.Context, stdin io.Reader) error {
	ids, err := unlessInterrupted(ctx, func() ([]string, error) { return session.ListedIDs(*s, stdin) })
	if err == nil {
		s.WatchIDs = ids
	}
	return err
}

// actionsOf are the actions with the configured keys, and the commands of the configuration among them. The error names
// each unusable action, key and command.
func actionsOf(s settings) (*action.Table, []own.Command, error) {
	keys := map[action.ID][]string{}
	for name, bound := range s.Keys {
		keys[action.ID(name)] = bound
	}
	table, err := action.Default().Remap(keys)
	if err != nil {
		return nil, nil, config.Wrong(err)
	}
	var commands []own.Command
	all := table.Actions()
	for i, c := range s.Commands {
		one := own.Command{Key: c.Key, Name: c.Name, Program: c.Program, Args: c.Args, Live: c.Live,
			Unguarded: c.Confirm != nil && !*c.Confirm}
		if wrong := one.Check(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("command %d, %q: %w", i+1, c.Name, wrong))
		}
		commands, all = append(commands, one), append(all, one.Action())
	}
	if err != nil || len(commands) == 0 {
		return table, nil, config.Wrong(err)
	}
	if table, err = action.NewTable(all); err != nil {
		return nil, nil, config.Wrongf("command: %w", err)
	}
	return table, commands, nil
}
