package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

type confirmOptions struct {
	total  string
	live   string
	wait   time.Duration
	dryRun bool
}

func newConfirm() *cobra.Command {
	var o confirmOptions
	command := &cobra.Command{
		Use:   "confirm ID --total AMOUNT",
		Short: "Confirm an intent without a screen: its order is placed, with real money",
		Long: "Confirm one intent that awaits confirmation, so that its order is placed. The command reads the intent, shows the purchase on stderr, and " +
			"refuses unless the total is exactly the one that you give. Then it reads the intent again, writes to the audit log, and sends one request. " +
			"Where real money may move, --live must hold the last four characters of the id. The command never prompts.\n\n" +
			"A lost answer proves nothing, and neither does a refusal: something on the way may have doubled the request, or may still hold it. " +
			"So tillwatch reads the intent until the outcome is clear: at once if its order is placed; if nothing happens, after two minutes for a refusal, " +
			"and after three for a lost answer, which then counts as not taken. If reads fail for half a minute more, or you interrupt it, the outcome " +
			"stays unknown. While that of an earlier confirm is unknown, nothing is sent: run the same command later, and it reads that outcome before it sends. " +
			"So does every dashboard with --allow-confirm, for as long as it runs.\n\n" +
			"Exit codes:\n" +
			"0  done\n" +
			"1  failed: nothing was placed, or the order failed\n" +
			"2  wrong usage\n" +
			"3  not confirmable: nothing was placed; the intent is in another state, or differs from what you gave\n" +
			"4  unknown outcome: it may have been placed, so do not buy it elsewhere; with --wait also: accepted, but what became of its order is not known yet\n" +
			"5  already confirmed, by another client or by an earlier or doubled request: do not buy it again",
		Example: "tillwatch confirm ci_779d1ba1900f41e1ace4536c64382ed7 --total 44.52USD --dry-run\n" +
			"tillwatch confirm ci_779d1ba1900f41e1ace4536c64382ed7 --total 44.52USD --allow-confirm --live 2ed7 --wait 5m --json",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			return nil, runConfirm(ctx, s, api.ScrubID(args[0]), o, std)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "insecure_http", "state_dir", "confirm_window", "allow_confirm")
	flags.StringVar(&o.total, "total", "", "the total that you agree to, with its currency, such as 44.52USD")
	flags.StringVar(&o.live, "live", "", "where real money may move: the last four characters of the intent's id")
	flags.DurationVar(&o.wait, "wait", 0, "wait this long for the order to be placed or to fail, such as 5m")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check and show everything, but send nothing")
	jsonFlag(flags, "print one JSON object")
	return command
}

// check refuses what can be refused without a request.
func (o confirmOptions) check(s settings) (agreed api.Money, err error) {
	if o.total == "" {
		return agreed, usagef("give the total that you agree to, with its currency, as in --total 44.52USD")
	}
	if agreed, err = api.ParseMoney(o.total); err != nil {
		return agreed, usagef("--total: %w", err)
	}
	if !s.AllowConfirm && !o.dryRun {
		return agreed, usagef("read-only: give --allow-confirm, set allow_confirm in the profile, or try it with --dry-run")
	}
	if o.wait < 0 {
		return agreed, usagef("--wait is %v; it must be 0 or longer, such as 5m", o.wait)
	}
	return agreed, nil
}

// checkLive requires --live where real money may move, as nobody types that by
// accident.
func (o confirmOptions) checkLive(live bool, id api.ID) error {
	if !live || o.dryRun {
		return nil
	}
	return checkEnd(o.live, string(id), "id")
}

// checkEnd requires given to be the last four characters of whole.
func checkEnd(given, whole, what string) error {
	tail := []rune(whole)
	switch {
	case given == "":
		return usagef("real money moves here: add --live with the last four characters of the %s", what)
	case given != string(tail[max(len(tail)-4, 0):]):
		return usagef("--live is %q, which is not how the %s ends", given, what)
	}
	return nil
}

func runConfirm(ctx context.Context, s settings, id api.ID, o confirmOptions, std streams) error {
	agreed, err := o.check(s)
	if err != nil {
		return err
	}
	current, err := session.New(s, session.Options{})
	if err != nil {
		return err
	}
	defer current.Close()
	if where := current.Client.Environment(); where.Known() {
		if err := o.checkLive(where.Live, id); err != nil {
			return err
		}
	}
	r := newConfirmReport(current)
	r.Intent = &account.IntentDetail{Intent: account.Intent{ID: id}}
	if !o.dryRun || confirm.Logged(s.AuditFile()) {
		if err := current.Arm("confirm"); err != nil {
			r.end(*confirm.Unlogged(s.AuditFile(), id, err))
			return r.print(std)
		}
	}
	current.Warn(std.words)
	if err := r.perform(ctx, current, o, agreed, std.words); err != nil {
		return err
	}
	return r.print(std)
}

// perform reads, compares, shows and confirms, and records the result. It returns
// only usage errors.
func (r *confirmReport) perform(ctx context.Context, s *session.Session, o confirmOptions, agreed api.Money, stderr io.Writer) error {
	id := r.Intent.ID
	in, err := s.Client.Intent(ctx, id)
	from := in.Response.From
	if err != nil {
		r.unread(s.Guard.Unread(id, err))
		return nil
	}
	r.recordRead(&in)
	r.Environment, r.Live = from.Name, from.Live
	if err := o.checkLive(from.Live, id); err != nil {
		return err
	}
	unsent := func(why error) confirm.Outcome {
		if o.dryRun {
			return s.Guard.Rehearse(in, why)
		}
		return s.Guard.Unsent(ctx, in, why)
	}
	seen, err := confirm.Propose(&in, from, s.Settings.ConfirmWindow)
	if err != nil {
		r.end(unsent(err))
		if r.ExitCode == exitNotConfirmable {
			r.said = "nothing was sent: " + r.Error
		}
		r.follow(ctx, s.Client, nil, o.wait, stderr)
		return nil
	}
	seen.Payment = cmp.Or(session.ConfirmBody(s.Settings).PaysBy(), seen.Payment)
	r.printProposal(stderr, seen)
	if seen.Total != agreed {
		out := unsent(nil)
		if out.Verdict == confirm.NotConfirmable && !out.Unsettled {
			out.Verdict, out.Differences = confirm.Changed, []confirm.Difference{{What: "total", Seen: agreed.String(), Now: seen.Total.String()}}
		}
		r.end(out)
		if r.ExitCode == exitNotConfirmable {
			r.said = "nothing was sent: the total is " + seen.Total.String() + ", not " + agreed.String()
		}
		return nil
	}
	if o.dryRun {
		if out := unsent(nil); out.Err != nil {
			r.end(out)
			return nil
		}
		r.Verdict, r.said = "dry_run", "dry run: nothing was sent; it would be confirmed"
		return nil
	}
	surviveReaders()
	r.end(s.Guard.Confirm(ctx, seen, reportSettling(stderr, "the intent")))
	r.follow(ctx, s.Client, &seen, o.wait, stderr)
	return nil
}

// reportSettling says that the outcome is unknown, and what is being read to settle it.
func reportSettling(stderr io.Writer, what string) func(confirm.Progress) {
	return func(at confirm.Progress) {
		if at.Stage == confirm.Settling {
			fmt.Fprintf(stderr, "%s\nThat proves nothing: reading %s until the outcome is clear, until %s, or %s if reads fail.\n", api.Scrub(at.Why.Error()), what,
				at.By.Format(time.TimeOnly), at.Until.Format(time.TimeOnly))
		}
	}
}

// follow waits for the order of a confirmed intent, if --wait asks for it. seen is what was confirmed here; nil if
// another client confirmed it.
func (r *confirmReport) follow(ctx context.Context, client *api.Client, seen *confirm.Proposal, limit time.Duration, stderr io.Writer) {
	if limit > 0 && (r.ExitCode == exitDone || r.ExitCode == exitAlready) {
		fmt.Fprintln(stderr, api.Scrub(r.said+"; waiting for its order"))
		r.await(ctx, client, seen, limit)
	}
}

// await reads the intent until its order is placed or has failed, or the limit
// passes.
func (r *confirmReport) await(ctx context.Context, client *api.Client, seen *confirm.Proposal, limit time.Duration) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	step := backoff.ExponentialBackOff{InitialInterval: time.Second, MaxInterval: 5 * time.Second, Multiplier: 1.5}
	last := "no read was answered in time"
	for {
		in, err := client.Intent(ctx, r.Intent.ID)
		if from := in.Response.From.Name; err == nil && from != r.Environment {
			err = fmt.Errorf("%q answers now, not %q", from, r.Environment)
		}
		switch {
		case err == nil:
			r.recordRead(&in)
			if _, ok := in.Total(); ok && seen != nil {
				r.Differences = seen.CostsNow(&in)
			}
			if in.State.Terminal() {
				r.ordered(&in)
				return
			}
			last = "the last read showed it " + cmp.Or(wording.Name(string(in.State)), "without a state")
		case ctx.Err() == nil:
			last = "the last read failed: " + err.Error()
		}
		if api.Sleep(ctx, step.NextBackOff()) != nil {
			r.said = r.confirmed() + ", but what became of its order is not known yet: " + last
			r.ExitCode = exitUnknown
			return
		}
	}
}
