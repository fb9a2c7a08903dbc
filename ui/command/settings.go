package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
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

// loadSettings merges all sources.
func loadSettings(flags *pflag.FlagSet) (settings, error) {
	s, err := config.Load(flags, os.Environ())
	if err == nil {
		_, err = actionsOf(s)
	}
	return s, explainable(err)
}

// configured runs a command with the settings from flags, environment and configuration file.
func configured(run func(c *cobra.Command, s settings, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		s, err := settingsOf(c)
		if err != nil {
			return err
		}
		return run(c, s, args)
	}
}

// settingsOf returns the settings of a command, unless it is interrupted first.
func settingsOf(c *cobra.Command) (settings, error) {
	return unlessInterrupted(c.Context(), func() (settings, error) { return loadSettings(c.Flags()) })
}

// readWatchIDs adds the ids of the watch list to the settings'. stdin is nil if the dashboard's keys come from there.
func readWatchIDs(s *settings, ctx context.Context, stdin io.Reader) error {
	ids, err := unlessInterrupted(ctx, func() ([]string, error) { return session.ListedIDs(*s, stdin) })
	if err == nil {
		s.WatchIDs = ids
	}
	return err
}

// actionsOf is the table of actions with the configured keys and commands. The error names each unusable action and
// key.
func actionsOf(s settings) (*action.Table, error) {
	keys := map[action.ID][]string{}
	for name, bound := range s.Keys {
		keys[action.ID(name)] = bound
	}
	table, err := action.Default().Remap(keys)
	if err != nil {
		return nil, config.Wrong(err)
	}
	commands, err := ownCommands(s)
	if err != nil || len(commands) == 0 {
		return table, err
	}
	all := table.Actions()
	for _, c := range commands {
		all = append(all, c.Action())
	}
	if table, err = action.NewTable(all); err != nil {
		return nil, config.Wrongf("command: %w", err)
	}
	return table, nil
}

// ownCommands are the commands of the configuration.
func ownCommands(s settings) (all []own.Command, err error) {
	for i, c := range s.Commands {
		one := own.Command{Key: c.Key, Name: c.Name, Program: c.Program, Args: c.Args, Live: c.Live,
			Unguarded: c.Confirm != nil && !*c.Confirm}
		if wrong := one.Check(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("command %d, %q: %w", i+1, c.Name, wrong))
		}
		all = append(all, one)
	}
	return all, config.Wrong(err)
}
