package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
)

// deadAtOnce is how many dead events are read at a time.
const deadAtOnce = 100

func newForwardDead(o *forwardOptions) *cobra.Command {
	return &cobra.Command{
		Use:     "dead",
		Short:   "List the events that were given up, with the last answer to each",
		Example: "tillwatch forward dead\ntillwatch forward dead --json",
		Args:    noArguments,
		RunE: configured(func(c *cobra.Command, s settings, _ []string) error {
			n := 0
			err := withDead(c, s, *o, func(_ context.Context, _ *forward.State, h *forward.Held) error {
				n++
				return o.print(c.OutOrStdout(), h)
			})
			if err == nil && n == 0 {
				fmt.Fprintln(c.ErrOrStderr(), "No event was given up.")
			}
			return err
		}),
	}
}

func newForwardResend(o *forwardOptions) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "resend ID... | --all",
		Short: "Resend events that were given up",
		Long: "Resend events that were given up, each once, to the target that did not accept it. An accepted event is no longer dead. A forwarder may be running.\n\n" +
			"Exit codes: 0 all were accepted; 1 some were not, or are not dead; 2 wrong usage.",
		Example: "tillwatch forward resend evt_ci_42_completed\ntillwatch forward resend --all",
		RunE: configured(func(c *cobra.Command, s settings, ids []string) error {
			if all == (len(ids) > 0) {
				return usagef("which events? give their IDs, or --all")
			}
			return o.resend(c, s, ids)
		}),
	}
	command.Flags().BoolVar(&all, "all", false, "resend all of them")
	return command
}

// resend resends the dead events that ids name, or all without ids.
func (o *forwardOptions) resend(c *cobra.Command, s settings, ids []string) error {
	sender, err := o.sender.sender(s, c.ErrOrStderr())
	if err != nil {
		return err
	}
	wanted := map[api.ID]bool{} // whether each was found
	for _, id := range ids {
		wanted[api.ScrubID(id)] = false
	}
	sent, refused := 0, 0
	passed := func(h *forward.Held) bool { _, ok := wanted[h.Event.ID]; return !ok && len(ids) > 0 }
	check := func(_ context.Context, state *forward.State, h *forward.Held) error {
		if err := state.ClaimDead(); err != nil || passed(h) {
			return err
		}
		return o.sender.checkClearText(s, h.Target)
	}
	// All are checked before the first is sent, and again, as a forwarder may have given up more meanwhile.
	err = withDead(c, s, *o, check, func(ctx context.Context, state *forward.State, h *forward.Held) error {
		if err := check(ctx, state, h); err != nil || passed(h) {
			return err
		}
		wanted[h.Event.ID] = true
		taken, err := state.Resend(ctx, sender, h)
		if sent++; !taken {
			refused++
		}
		return errors.Join(err, o.print(c.OutOrStdout(), h))
	})
	if err != nil {
		return err
	}
	var wrong []error
	for _, id := range ids {
		if !wanted[api.ScrubID(id)] {
			wrong = append(wrong, fmt.Errorf("%s is not dead: tillwatch events resend sends any stored event", api.ScrubID(id)))
		}
	}
	if refused > 0 {
		wrong = append(wrong, fmt.Errorf("%d of %s", refused, countOf(sent, "was not accepted", "were not accepted")))
	}
	if len(wrong) == 0 && sent == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "No event was given up.")
	}
	return errors.Join(wrong...)
}

func (o *forwardOptions) print(out io.Writer, h *forward.Held) error {
	line := attemptLine{shown(h.Delivery), api.Scrub(h.Cursor)}
	return printed(out, o.json, line, line.String())
}

// withDead calls each of the passes, one after another, with all dead events, oldest first. A
// forwarder may be running.
func withDead(c *cobra.Command, s settings, o forwardOptions, passes ...func(context.Context, *forward.State, *forward.Held) error) error {
	if o.stateFile == "" && s.RelayURL == "" {
		return usagef("of which relay? give --relay-url or set TILLWATCH_RELAY_URL, or give --cursor-file")
	}
	path := o.statePath(s)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && o.stateFile == "" {
		if err := config.RequireFolder(s.StateDir); err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "Nothing was forwarded from this relay with the state folder %s.\n", s.StateDir)
		return nil
	} else if err != nil {
		return usagef("reading the forwarder's state: %w", err)
	}
	state, err := forward.OpenState(path)
	if err != nil {
		return err
	}
	defer state.Close()
	for _, do := range passes {
		if err := eachDead(c.Context(), state, do); err != nil {
			return err
		}
	}
	return nil
}

func eachDead(ctx context.Context, state *forward.State, do func(context.Context, *forward.State, *forward.Held) error) error {
	for after := int64(0); ; {
		all, last, err := state.Dead(after, deadAtOnce)
		if err != nil || len(all) == 0 {
			return err
		}
		for _, h := range all {
			if err := errors.Join(do(ctx, state, h), ctx.Err()); err != nil {
				return err
			}
		}
		after = last
	}
}
