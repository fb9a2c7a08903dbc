package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

type confirmOptions struct {
	total  string
	live   string
	wait   time.Duration
	dryRun bool
	json   bool
}

func newConfirm() *cobra.Command {
	var o confirmOptions
	command := &cobra.Command{
		Use:   "confirm ID --total AMOUNT",
		Short: "Confirm an intent without a screen: its order is placed, with real money",
		Long: "Confirm one intent that awaits confirmation: its order is placed. The intent is read, what is bought is shown on stderr, and\n" +
			"the total must be exactly the one that you give. It is read once more just before, recorded in the audit log, and sent once.\n" +
			"Where real money may move, --live must hold the last four characters of the id. It never asks and never waits for a terminal.\n\n" +
			"Exit codes: 0 done; 1 failed, nothing was placed (or, with --wait, the order failed); 2 wrong usage; 3 not confirmable: the intent\n" +
			"is in another state or differs from what you gave; 4 unknown outcome: it was sent, and a read has to tell. While the outcome of an\n" +
			"earlier confirm of the intent is unknown, it is not sent again.",
		Example: "tillwatch confirm ci_779d1ba1900f41e1ace4536c64382ed7 --total 44.52USD --dry-run\n" +
			"tillwatch confirm ci_779d1ba1900f41e1ace4536c64382ed7 --total 44.52USD --allow-confirm --live 2ed7 --wait 5m --json",
		Args: oneIntent,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c.Flags())
			if err != nil {
				return err
			}
			return runConfirm(c.Context(), s, api.ScrubID(args[0]), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	d := defaults()
	flags.String("api-url", "", "base address of the service, without /api/v1")
	clearTextFlag(flags)
	flags.String("state-dir", d.StateDir, "folder for the audit log")
	flags.Duration("confirm-window", d.ConfirmWindow, "how long after its creation an intent can be confirmed")
	flags.Bool("allow-confirm", false, "arm the confirm: without it, or allow_confirm in the profile, nothing is sent")
	flags.StringVar(&o.total, "total", "", "the total that you agree to, with its currency: 44.52USD")
	flags.StringVar(&o.live, "live", "", "where real money may move: the last four characters of the intent's id")
	flags.DurationVar(&o.wait, "wait", 0, "wait this long for the order to be placed or to fail, such as 5m")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check and show everything, and send nothing")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func oneIntent(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("which intent? give its id: tillwatch confirm ID --total 44.52USD")
	case len(args) > 1:
		return errors.New("one intent at a time, each with its own total; several at once are confirmed in the dashboard, with x and X")
	case args[0] == "" || string(api.ScrubID(args[0])) != args[0]:
		return errors.New("that is no id of an intent")
	}
	return nil
}

// check refuses what can be refused before anything is read.
func (o confirmOptions) check(s settings) (agreed api.Money, err error) {
	if o.total == "" {
		return agreed, usagef("give the total that you agree to, with its currency, as in --total 44.52USD")
	}
	if agreed, err = api.ParseMoney(o.total); err != nil {
		return agreed, usagef("--total: %w", err)
	}
	if !s.AllowConfirm && !o.dryRun {
		return agreed, usagef("read-only: give --allow-confirm, set allow_confirm in the profile, or look first with --dry-run")
	}
	if o.wait < 0 {
		return agreed, usagef("--wait is %v; it must not be negative", o.wait)
	}
	return agreed, nil
}

// checkLive asks for what nobody types by accident where real money may move.
func (o confirmOptions) checkLive(live bool, id api.ID) error {
	if !live || o.dryRun {
		return nil
	}
	tail := []rune(string(id))
	switch given := o.live; {
	case given == "":
		return usagef("real money moves here: add --live with the last four characters of the intent's id")
	case given != string(tail[max(len(tail)-4, 0):]):
		return usagef("--live is %q, which is not how the id ends", given)
	}
	return nil
}

func runConfirm(ctx context.Context, s settings, id api.ID, o confirmOptions, stdout, stderr io.Writer) error {
	agreed, err := o.check(s)
	if err != nil {
		return err
	}
	s.AllowConfirm = s.AllowConfirm && !o.dryRun
	s.RelayURL = "" // the intent is read; nothing is followed
	current, err := openSession(s)
	if err != nil {
		return err
	}
	defer current.close()
	if err := o.checkLive(current.client.Live(), id); err != nil {
		return err
	}
	r := newConfirmReport(current.client, id)
	r.perform(ctx, current, o, agreed, stderr)
	if err := r.print(stdout, o.json); err != nil {
		return err
	}
	return r.failure()
}

// perform reads, compares, shows and confirms, and takes down what came of it.
func (r *confirmReport) perform(ctx context.Context, s *session, o confirmOptions, agreed api.Money, stderr io.Writer) {
	in, err := s.client.Intent(ctx, r.Intent)
	readAt := time.Now()
	if err != nil {
		r.unread(err)
		return
	}
	r.saw(&in)
	seen, err := confirm.Propose(&in, readAt, r.Environment, s.settings.ConfirmWindow)
	if err != nil {
		if s.guard != nil {
			err = errors.Join(err, s.guard.Settle(&in))
		}
		r.end(confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: &in, Err: err})
		r.text = "nothing was sent: " + r.Error
		return
	}
	r.show(stderr, seen)
	if seen.Total != agreed {
		r.end(confirm.Outcome{Verdict: confirm.Changed, Intent: &in, Differences: []confirm.Difference{{What: "total", Seen: agreed.String(), Now: seen.Total.String()}}})
		r.text = "nothing was sent: the total is " + seen.Total.String() + ", not " + agreed.String()
		return
	}
	if o.dryRun {
		r.Verdict, r.text = "dry_run", "dry run: nothing was sent; it would be confirmed"
		return
	}
	outcome := s.guard.Confirm(ctx, seen, func(stage confirm.Stage) {
		if stage == confirm.Settling {
			fmt.Fprintln(stderr, "no clear answer: reading the intent until it tells")
		}
	})
	r.end(outcome)
	if o.wait > 0 && outcome.Verdict == confirm.Accepted {
		fmt.Fprintln(stderr, outcome.String()+"; waiting for its order")
		r.await(ctx, s.client, o.wait)
	}
}

// await reads the intent until its order is placed or has failed, or until the
// limit.
func (r *confirmReport) await(ctx context.Context, client *api.Client, limit time.Duration) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for step := time.Second; ; step = min(step*3/2, 5*time.Second) {
		if in, err := client.Intent(ctx, r.Intent); err == nil {
			r.saw(&in)
			if in.State.Terminal() {
				r.ordered(&in)
				return
			}
		}
		timer := time.NewTimer(step)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			r.code = exitUnknown
			r.text = "confirmed, and the order is still being placed: how it ended is not known yet"
			return
		}
	}
}
