package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// confirmReport is the object of `confirm --json`. It holds no buyer and no payment token.
type confirmReport struct {
	Environment string                `json:"environment"`
	Live        bool                  `json:"live"`
	Verdict     string                `json:"verdict"`          // accepted, changed, not_confirmable, already_confirmed, overtaken, refused, not_sent, unknown, dry_run
	Intent      *account.IntentDetail `json:"intent,omitempty"` // as last read, masked; nil if nothing was made
	Differences []confirm.Difference  `json:"differences,omitempty"`
	Attempt     string                `json:"attempt,omitempty"` // the audit log's id
	Error       string                `json:"error,omitempty"`
	ExitCode    int                   `json:"exit_code"`

	window time.Duration // how long it can be confirmed
	said   string        // for people
}

func newConfirmReport(s *session.Session) *confirmReport {
	where := s.Client.Environment()
	return &confirmReport{Environment: where.Name, Live: where.Live, window: s.Settings.ConfirmWindow}
}

// recordRead records an intent as it was read.
func (r *confirmReport) recordRead(in *api.Intent) {
	picture := account.NewStore(account.StoreConfig{ConfirmWindow: r.window})
	picture.ApplyRead(*in, in.Response.Sent, account.ByRead)
	if read, ok := picture.Intent(in.ID); ok {
		r.Intent = read.Shared()
		r.Intent.Timeline = nil // of this read alone
	}
}

// printProposal prints on stderr what would be bought.
func (r *confirmReport) printProposal(w io.Writer, seen confirm.Proposal) {
	window := "not known"
	if !seen.ExpiresAt.IsZero() {
		window = "closes at " + stamp(seen.ExpiresAt, time.Now()) + seen.ExpiresAt.Local().Format(" MST")
	}
	money := "no real money"
	if r.Live {
		money = "REAL MONEY"
	}
	rows := []fact{{"Product", seen.Item()}, {"Variant", string(seen.Variant)}, {"Merchant", string(seen.Merchant)}, {"Page", string(api.MaskAddress(seen.ProductURL))}}
	for _, part := range append(seen.Cost.Parts(), api.CostPart{Name: "Total", Amount: &seen.Total}) {
		rows = append(rows, fact{part.Name, amountOf(part)})
	}
	rows = append(rows, fact{"Delivery", shipping(seen.Option, time.Local)}, fact{"Promo codes", joinedTexts(seen.PromoCodes)},
		fact{"Payment", wording.Name(string(seen.Payment))})
	rows = append(rows, fact{"Intent", string(seen.ID)}, fact{"Environment", seen.Environment + ", " + money}, fact{"Window", window})
	fmt.Fprint(w, sheet(rows...))
}

// end records how the confirm ended.
func (r *confirmReport) end(o confirm.Outcome) {
	r.Verdict, r.Attempt, r.said = strings.ReplaceAll(string(o.Verdict), " ", "_"), o.Attempt, o.String()
	r.Differences = o.Differences
	if o.Intent != nil {
		r.recordRead(o.Intent)
	}
	if o.Err != nil {
		r.Error = string(api.Scrub(o.Err.Error()))
	}
	r.ExitCode = exitCodeOf(o)
	if r.ExitCode == exitUnknown { // also where an earlier confirm is open and this one was not sent: the text says which
		r.Verdict = string(confirm.Unknown)
	}
	switch placed := o.Verdict == confirm.Accepted || o.Verdict == confirm.Overtaken; {
	case placed && o.Proves() == confirm.NotPlaced:
		r.ordered(o.Intent)
	case o.Verdict == confirm.Refused:
		r.said += ". " + o.Advice()
	case r.ExitCode == exitUnknown:
		r.said += ". Do not buy it elsewhere. Look at the intent, or run the same command again: it reads before it sends"
	}
}

// exitCodeOf tells a script what it may do: "not bought" needs proof.
func exitCodeOf(o confirm.Outcome) int {
	switch {
	case o.Proves() == confirm.Unproven:
		return exitUnknown
	case o.Proves() == confirm.Placed && o.Verdict == confirm.Accepted:
		return exitDone
	case o.Proves() == confirm.Placed:
		return exitAlready
	case o.Verdict == confirm.Changed, o.Verdict == confirm.NotConfirmable:
		return exitNotConfirmable
	}
	return exitFailed
}

// unread records that the intent could not be read.
func (r *confirmReport) unread(o confirm.Outcome) {
	r.end(o)
	switch {
	case o.Proves() != confirm.NotPlaced:
	case errors.Is(o.Err, api.ErrMissing):
		r.Verdict, r.ExitCode = "not_confirmable", exitNotConfirmable
		r.said = "nothing was sent: the service knows no such intent"
	default:
		r.said = "nothing was sent: reading the intent: " + r.Error
	}
}

// confirmed says who confirmed the intent.
func (r *confirmReport) confirmed() string {
	if r.ExitCode == exitAlready {
		return "already confirmed"
	}
	return "confirmed"
}

// ordered records how the order ended.
func (r *confirmReport) ordered(in *api.Intent) {
	if in.State == api.Completed {
		r.said = r.confirmed() + ", and the order is placed"
		if len(in.OrderIDs) > 0 {
			r.said += ": " + joinedTexts(in.OrderIDs)
		}
		if len(r.Differences) > 0 {
			r.said += " (" + confirm.InWords(r.Differences) + ")"
		}
		return
	}
	r.said = r.confirmed() + ", but the order failed"
	r.ExitCode = exitFailed
	if in.Failure != nil {
		r.said += fmt.Sprintf(": %s. %s", in.Failure.Code.Words(), in.Failure.Code.Advice())
	}
}

// text is a sentence if all went well; otherwise the sentence is the error.
func (r *confirmReport) text() string {
	if r.ExitCode != exitDone {
		return ""
	}
	return string(api.Scrub(r.said)) + "\n"
}

// print prints the report. If that fails, the outcome counts as unknown: the script has not seen it.
func (r *confirmReport) print(std streams) error {
	err := std.print(r)
	switch {
	case err != nil && r.ExitCode == exitDone && r.Verdict != "dry_run":
		return &exitError{exitUnknown, fmt.Errorf("%s; but that could not be printed: %w", r.said, err)}
	case err != nil && r.ExitCode == exitDone:
		return err
	case r.ExitCode == exitDone:
		return nil
	}
	// Only the text: if the error wrapped an interrupt, the command would end without a
	// message.
	return &exitError{r.ExitCode, errors.New(r.said)}
}
