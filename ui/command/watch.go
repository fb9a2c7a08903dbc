package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tillwatch/api"
	"tillwatch/themes"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/notify"
	"tillwatch/ui/plain"
)

// paintFirst is how long the network waits for the screen to be drawn first.
const paintFirst = 30 * time.Millisecond

type screenOptions struct {
	kept          bool // how the screen is arranged is remembered
	words         io.Writer
	noMouse       bool
	noColor       bool
	plain         bool // nothing is drawn
	json          bool // what is printed is the lines of a stream
	record        recordOptions
	width, height int // where the output is no terminal that could tell
}

func newWatch() *cobra.Command {
	var o screenOptions
	command := &cobra.Command{
		Use:   "watch",
		Short: "Open the dashboard on an account (the default command)",
		Long: "Open the dashboard on an account. The API key comes from TILLWATCH_API_KEY, the relay's token from TILLWATCH_RELAY_TOKEN, " +
			"each also from a file that …_FILE names, or both from tillwatch.toml.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c.Flags())
			if err != nil {
				return err
			}
			if err := s.checkTheme(); err != nil {
				return err
			}
			if o.json && o.plain {
				return usagef("--json and --plain both print lines, each its own: leave one of them out")
			}
			o.plain = o.plain || o.json || fallsBack(c)
			stdin := c.InOrStdin()
			if !o.plain {
				stdin = nil
			}
			if err := s.takeWatchList(stdin); err != nil {
				return err
			}
			o.noColor, o.kept, o.words = colourless(c), true, c.ErrOrStderr()
			if !o.plain {
				if err := requireTerminal(c, "tillwatch watch --json, tillwatch status --json, or --plain"); err != nil {
					return err
				}
			}
			current, err := beginKeptSession(s)
			if err != nil {
				return err
			}
			defer current.close()
			ctx, release := untilHangup(c.Context())
			defer release()
			if o.json {
				return current.stream(ctx, filled{current.store, current.restored}, o, c.OutOrStdout())
			}
			return showSession(ctx, current, o, c.InOrStdin(), c.OutOrStdout())
		},
	}
	accountFlags(command.Flags())
	screenFlags(command.Flags(), &o)
	command.Flags().BoolVar(&o.json, "json", false, "print what is known and what changes as JSON lines, until the reader leaves or ctrl-c (api/account/form/FORMAT.md)")
	command.Flags().Bool("allow-confirm", false, "let the dashboard confirm intents; without it, it is read-only")
	return command
}

func screenFlags(flags *pflag.FlagSet, o *screenOptions) {
	lookFlags(flags, o)
	recordFlags(flags, &o.record)
	flags.String("notify", string(notify.Auto), "how to notify you, while the terminal is not focused, of what waits or failed: "+notifyMethods())
}

// lookFlags say how what is shown looks.
func lookFlags(flags *pflag.FlagSet, o *screenOptions) {
	flags.String("theme", themeAuto, "theme: "+themeAuto+" (dark or light, as the terminal is), "+orNone(themes.Names())+", or a file of your own, as in ./my.toml")
	flags.BoolVar(&o.plain, "plain", false, "print a line for each change instead of drawing, for screen readers and logs")
	flags.BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
}

func notifyMethods() string {
	var names []string
	for _, m := range notify.Methods() {
		names = append(names, string(m))
	}
	return orNone(names)
}

// requireTerminal refuses to draw into a pipe or a file and names what would
// serve there.
func requireTerminal(c *cobra.Command, instead string) error {
	for _, stream := range []struct {
		name string
		file any
	}{{"stdin", c.InOrStdin()}, {"stdout", c.OutOrStdout()}} {
		if file, ok := stream.file.(*os.File); !ok || !term.IsTerminal(file.Fd()) {
			return usagef("%s is not a terminal, so there is nothing to draw on: use %s", stream.name, instead)
		}
	}
	return nil
}

// fallsBack reports whether the terminal is one that cannot be drawn on, and says
// what comes instead.
func fallsBack(c *cobra.Command) bool {
	if os.Getenv("TERM") != "dumb" || requireTerminal(c, "") != nil {
		return false
	}
	fmt.Fprintln(c.ErrOrStderr(), "tillwatch: TERM=dumb: nothing can be drawn on this terminal, so a line is printed for each change, as with --plain")
	return true
}

// showSession runs a session with the dashboard before it, or with lines of text,
// until the user quits or ctx ends.
func showSession(ctx context.Context, s *session, o screenOptions, in io.Reader, out io.Writer) error {
	config := s.screen(o)
	actions, err := s.settings.Keys.table()
	if err != nil {
		return usage(err)
	}
	config.Actions = actions
	var memory *remembered
	if o.kept && !o.plain {
		memory, config.Warning = recall(s.settings.StateDir, s.settings.Theme)
		config.Remembered, config.Remember = memory.layout, memory.remember
	}
	if unread := unreadVariables(os.Environ()); len(unread) > 0 && config.Warning == "" {
		config.Warning = unread[0]
	}
	followTheme, err := s.settings.dress(&config)
	if err != nil {
		return err
	}
	kept, err := s.record(ctx, o, out)
	if err != nil {
		return err
	}
	defer kept.stop(o.words)
	config.Recording = kept.trouble()
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	group, ctx := errgroup.WithContext(ctx)
	if s.guard != nil {
		config.Unsettled = s.guard.Unsettled()
		if warnings := s.guard.Warnings(); len(warnings) > 0 {
			config.Warning = warnings[0] // before all others: it is about money
		}
		s.warn(o.words)
	}
	s.keepLive(ctx, group, o)
	if o.plain {
		group.Go(func() error {
			defer quit()
			return plain.Run(ctx, plain.Config{Source: config.Source, Environment: config.Environment, Account: config.Account}, out)
		})
		return group.Wait()
	}
	group.Go(func() error {
		followTheme(ctx)
		return nil
	})
	var forgotten error
	if memory != nil {
		group.Go(func() error {
			if err := memory.run(ctx); err != nil { // no reason to end, and told once the screen is gone
				forgotten = err
			}
			return nil
		})
	}
	group.Go(func() error {
		defer quit()
		return dashboard.Run(ctx, config, in, out)
	})
	err = group.Wait()
	if forgotten != nil {
		fmt.Fprintf(o.words, "tillwatch: %v\n", forgotten)
	}
	return err
}

// keepLive has the group keep the picture live and settle what earlier confirms
// left unknown.
func (s *session) keepLive(ctx context.Context, group *errgroup.Group, o screenOptions) {
	group.Go(func() error {
		if !o.plain {
			_ = api.Sleep(ctx, paintFirst)
		}
		if err := s.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("watching the account: %w", err)
		}
		return nil
	})
	if s.guard == nil {
		return
	}
	group.Go(func() error {
		_ = s.restored.wait() // told of by run
		s.guard.SettleEarlier(ctx)
		return nil
	})
}

// screen is the dashboard's configuration for a session.
func (s *session) screen(o screenOptions) dashboard.Config {
	where := s.client.Environment()
	config := dashboard.Config{
		Source: filled{s.store, s.restored}, Environment: where.Name, Live: where.Live, Account: s.account(),
		Armed: s.guard != nil, Refresh: s.watcher.Refresh, TryKey: s.tryKey, KeyFile: shortened(s.settings.KeyFile), Reconnect: s.retry, ConfirmWindow: s.settings.ConfirmWindow,
		Notify: notify.Method(s.settings.Notify).Resolve(os.Getenv), NoMouse: o.noMouse, NoColor: o.noColor, Width: o.width, Height: o.height,
	}
	if s.guard != nil {
		config.Confirmer = s.guard
	}
	return config
}
