package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

type settleOptions struct {
	made  string
	close bool
	live  string
	json  bool
}

func newSettle() *cobra.Command {
	var o settleOptions
	command := &cobra.Command{
		Use:   "settle [REFERENCE | ATTEMPT]",
		Short: "List creations and purchases of unknown outcome, and close one by hand",
		Long: "List the creations and purchases whose outcome is unknown. Until one is settled, tillwatch does not send the same again. If the service lists its intents, " +
			"running the same command again settles it by reading. Otherwise look for the intent in the service's console, and settle it here.\n\n" +
			"--made ID names the intent that came of it. tillwatch reads that intent and checks that it is what was sent; from then on it counts as made.\n\n" +
			"--close gives up on the outcome. It then counts neither as made nor as not made, and the same may be sent again: if it was made after all, that makes a second one. " +
			"This needs --allow-confirm and, where real money may move, --live with the last four characters of the attempt. A request that may still be on its way cannot be closed.\n\n" +
			"Both are written to the audit log, confirms.jsonl in the state folder.",
		Example: "tillwatch settle\ntillwatch settle order-7 --made ci_779d1ba1900f41e1ace4536c64382ed7\n" +
			"tillwatch settle order-7 --close --allow-confirm --live X4KQ",
		Args: argument("", "settle one at a time: give a reference or an attempt that tillwatch settle lists"),
		RunE: configured(func(c *cobra.Command, s settings, args []string) error { return runSettle(c, s, o, args) }),
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http", "state_dir", "allow_confirm")
	flags.Lookup("allow-confirm").Usage = "with --close: let the same be sent again"
	flags.StringVar(&o.made, "made", "", "the intent that came of it")
	flags.BoolVar(&o.close, "close", false, "close it: nobody will know what came of it")
	flags.StringVar(&o.live, "live", "", "with --close, where real money may move: the last four characters of the attempt")
	flags.BoolVar(&o.json, "json", false, "print one JSON object for each")
	return command
}

// unsettledLine is a creation of unknown outcome, or how it was closed. Its names stay.
type unsettledLine struct {
	Attempt     string          `json:"attempt"`
	At          time.Time       `json:"at"`
	Environment string          `json:"environment"`
	Product     api.Text        `json:"product"`
	Quantity    int             `json:"quantity"`
	Reference   api.Text        `json:"reference"`
	Most        string          `json:"most,omitempty"`
	Verdict     confirm.Verdict `json:"verdict"`
	Intent      api.ID          `json:"intent,omitempty"`
}

func unsettledOf(l confirm.Line) unsettledLine {
	return unsettledLine{
		Attempt: l.Attempt, At: l.At, Environment: l.Environment, Product: l.Product, Quantity: l.Quantity, Reference: l.Reference(), Most: l.Total, Verdict: confirm.Unknown,
	}
}

// String is what was sent, in words.
func (u unsettledLine) String() string {
	text := fmt.Sprintf("%d × %s", u.Quantity, u.Product)
	if u.Reference != "" {
		text += fmt.Sprintf(", of %s", u.Reference)
	}
	if u.Most != "" {
		text += ", " + u.Most
	}
	return string(api.Scrub(text + fmt.Sprintf(", sent to %s at %s", u.Environment, u.At.UTC().Format(secondUTC))))
}

func runSettle(c *cobra.Command, s settings, o settleOptions, args []string) error {
	if len(args) == 0 && (o.close || o.made != "") {
		return usagef("which one? give a reference or an attempt that tillwatch settle lists")
	}
	if o.close && o.made != "" {
		return usagef("give --made or --close, not both: either an intent came of it, or its outcome will never be known")
	}
	if err := requireFolder(s.StateDir); err != nil {
		return err
	}
	if !confirm.Logged(s.auditFile()) {
		if len(args) > 0 {
			_, err := pickUnsettled(nil, args[0])
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "Nothing is on record in the state folder %s; what went to a stand-in is not on record.\n", s.StateDir)
		return nil
	}
	current, err := newSession(s, forgets)
	if err != nil {
		return err
	}
	defer current.close()
	if err := current.arm("settle"); err != nil {
		return err
	}
	open := current.guard.Creations()
	if len(args) == 0 {
		return listUnsettled(c, open, o.json)
	}
	line, err := pickUnsettled(open, args[0])
	if err != nil {
		return err
	}
	u := unsettledOf(line)
	switch where := current.client.Environment(); {
	case o.made != "":
		err = current.settleMade(c, line, api.ScrubID(o.made), &u)
	case !o.close:
		return usagef("%s: whether it was made is unknown. Look for it in the service's console: if it is there, give --made with its id; if nobody can know, --close", u)
	case !s.AllowConfirm:
		return usagef("read-only: closing allows the same to be sent again, which makes a second one if it was made after all. Give --allow-confirm to close %s", u)
	case where.Live || !where.Known():
		if err := checkEnd(o.live, line.Attempt, "attempt"); err != nil {
			return err
		}
		fallthrough
	default:
		u.Verdict, err = confirm.Closed, current.guard.Drop(line)
	}
	if err != nil {
		return fmt.Errorf("not settled, %s: %w", u, err)
	}
	text := fmt.Sprintf("closed, with an unknown outcome: %s. The same may be sent again", u)
	if u.Intent != "" {
		text = fmt.Sprintf("settled: %s came of %s", u.Intent, u)
	}
	return printed(c.OutOrStdout(), o.json, u, text+"\n")
}

// settleMade records that an intent came of a line.
func (s *session) settleMade(c *cobra.Command, line confirm.Line, id api.ID, u *unsettledLine) error {
	in, err := s.client.Intent(c.Context(), id)
	if err != nil {
		return err
	}
	u.Verdict, u.Intent = confirm.Accepted, in.ID
	return s.guard.Made(line, &in)
}

func listUnsettled(c *cobra.Command, open []confirm.Line, asJSON bool) error {
	for _, line := range open {
		u := unsettledOf(line)
		if err := printed(c.OutOrStdout(), asJSON, u, fmt.Sprintf("%s  %s\n", u.Attempt, u)); err != nil {
			return err
		}
	}
	if len(open) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "The outcome of every creation and purchase on record is known; what went to a stand-in is not on record.")
	}
	return nil
}

// pickUnsettled finds the one that a reference or an attempt names.
func pickUnsettled(open []confirm.Line, named string) (found confirm.Line, err error) {
	n := 0
	for _, line := range open {
		if line.Attempt == named || string(line.Reference()) == named && named != "" {
			found = line
			n++
		}
	}
	switch {
	case n == 0:
		return found, usagef("no creation or purchase of unknown outcome has the reference or attempt %s: tillwatch settle lists them all", shownValue(named))
	case n > 1:
		return found, usagef("the reference %s has %d attempts of unknown outcome: give one attempt, as tillwatch settle lists it", shownValue(named), n)
	}
	return found, nil
}
