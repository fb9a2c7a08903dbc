package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api/account"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/plain"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
)

type replayOptions struct {
	screen screenOptions
	player recording.PlayerConfig
}

func newReplay() *cobra.Command {
	var o replayOptions
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a recording made with --record; sends nothing",
		Long: "Play a recording on the dashboard, at its original pace. It opens no connection: nothing is " +
			"read, and nothing can be confirmed.\n\n" +
			"space pauses; . and , step by one change; ] and [ skip 10s forward and back, } and { a minute; " +
			"> and < change the speed; home and end jump to the ends; a click on the bar at the bottom jumps " +
			"there.\n\n" +
			"A recording is safe to share, as in a bug report. It leaves out: " +
			strings.Join(account.Masked(), ", ") + ".",
		Example: "tillwatch demo --record day.tillwatch\ntillwatch replay day.tillwatch --speed 10x\n" +
			"tillwatch replay day.tillwatch --plain | grep failed",
		RunE: func(c *cobra.Command, args []string) error {
			o.screen.noColor = colourless(c)
			player, err := recording.OpenPlayer(args[0], o.player)
			if err != nil {
				return usage(err)
			}
			o.screen.plain = o.screen.plain || fallsBack(c)
			if !o.screen.plain {
				if err := requireTerminal(c, "tillwatch replay FILE --plain"); err != nil {
					return err
				}
			} else if o.player.Paused || o.player.Speed != 0 {
				return usagef("--paused and --speed need the screen: leave them out, or --plain")
			}
			s := config.Defaults()
			s.Theme, _ = c.Flags().GetString("theme")
			if err := checkTheme(s); err != nil {
				return err
			}
			ctx, release := untilHangup(c.Context())
			defer release()
			if o.screen.plain {
				return printReplay(ctx, player, c.OutOrStdout(), c.ErrOrStderr())
			}
			return showReplay(ctx, s, player, o, c.InOrStdin(), c.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.Var(&writtenFlag[float64]{to: &o.player.Speed, read: parseSpeed, kind: "speed"}, "speed",
		"how fast to play, such as 10x or 0.5x (default 1x)")
	flags.DurationVar(&o.player.From, "from", 0, "where to start, such as 2m30s")
	flags.BoolVar(&o.player.Paused, "paused", false, "start paused")
	lookFlags(flags, &o.screen)
	return command
}

// parseSpeed reads a speed: 10x, 0.5x, 2.
func parseSpeed(text string) (float64, error) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text), "x"), "×")
	speed, err := strconv.ParseFloat(number, 64)
	if err != nil || !(speed >= recording.Slowest && speed <= recording.Fastest) {
		return 0, fmt.Errorf("give a speed from %vx to %vx, such as 10x", recording.Slowest, recording.Fastest)
	}
	return speed, nil
}

// showReplay plays a recording on the dashboard until the user quits or ctx ends. It
// cannot act: it has no client, no guard and no feed.
func showReplay(ctx context.Context, s settings, player *recording.Player, o replayOptions, in io.Reader,
	out io.Writer) error {
	h := player.Header()
	config := dashboard.Config{
		Source: player, Transport: player, Now: func() time.Time { return player.Now().Local() },
		Environment: h.Environment, Live: h.Live, Account: h.Account, Warning: player.Flaws(),
		NoMouse: o.screen.noMouse, NoColor: o.screen.noColor, Width: o.screen.width, Height: o.screen.height,
	}
	followTheme, err := applyTheme(s, &config)
	if err != nil {
		return err
	}
	return session.Alongside(ctx, func(ctx context.Context) error { return dashboard.Run(ctx, config, in, out) },
		player.Run, followTheme)
}

// errPrinted ends the printing of a recording.
var errPrinted = errors.New("the recording is printed")

// printReplay prints a recording as lines of text, to its end.
func printReplay(ctx context.Context, player *recording.Player, out, words io.Writer) error {
	h := player.Header()
	config := plain.Config{Source: unpaced{player}, Environment: h.Environment, Account: h.Account, Gather: -1}
	if flaws := player.Flaws(); flaws != "" {
		defer fmt.Fprintf(words, "tillwatch: %s\n", flaws)
	}
	if err := plain.Run(ctx, config, out); !errors.Is(err, errPrinted) {
		return err
	}
	return nil
}

// unpaced plays each change as soon as somebody waits for it.
type unpaced struct{ *recording.Player }

func (u unpaced) Wait(ctx context.Context, _ uint64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !u.Advance() {
		return errPrinted
	}
	return nil
}
