package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// confirmReport is the object of `confirm --json`. Fields are added, never
// renamed. It holds nothing of the buyer and no payment token.
type confirmReport struct {
	Intent      api.ID             `json:"intent"`
	Environment string             `json:"environment"`
	Live        bool               `json:"live"`
	Verdict     string             `json:"verdict"` // accepted, changed, not_confirmable, already_confirmed, overtaken, refused, not_sent, unknown, dry_run
	State       api.IntentState    `json:"state,omitempty"`
	Product     api.Text           `json:"product,omitempty"`
	Variant     api.Text           `json:"variant,omitempty"`
	Merchant    api.Text           `json:"merchant,omitempty"`
	Quantity    int                `json:"quantity,omitempty"`
	Total       *moneyReport       `json:"total,omitempty"`
	ExpiresAt   *time.Time         `json:"expires_at,omitempty"`
	OrderIDs    []api.Text         `json:"order_ids,omitempty"`
	Failure     *failureReport     `json:"failure,omitempty"`
	Differences []differenceReport `json:"differences,omitempty"`
	Attempt     string             `json:"attempt,omitempty"` // in the audit log
	Error       string             `json:"error,omitempty"`
	ExitCode    int                `json:"exit_code"`

	code int
	text string // for people
}

type moneyReport struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Subunits int64  `json:"subunits"`
}

type failureReport struct {
	Code    api.FailureCode `json:"code"`
	Message api.Text        `json:"message,omitempty"`
}

type differenceReport struct {
	What string `json:"what"`
	Seen string `json:"seen"`
	Now  string `json:"now"`
}

func newConfirmReport(client *api.Client, id api.ID) *confirmReport {
	where := client.Environment()
	return &confirmReport{Intent: id, Environment: where.Name, Live: where.Live}
}

// saw takes down an intent as it was read.
func (r *confirmReport) saw(in *api.Intent) {
	r.State, r.Product, r.Merchant, r.Quantity, r.OrderIDs = in.State, in.ProductName(), in.Merchant(), in.Quantity, in.OrderIDs
	if total, ok := in.Total(); ok {
		r.Total = &moneyReport{total.Amount(), total.Currency, total.Subunits}
	}
	if in.Failure != nil {
		r.Failure = &failureReport{in.Failure.Code, in.Failure.Message}
	}
}

// show says on stderr what is agreed to.
func (r *confirmReport) show(w io.Writer, seen confirm.Proposal) {
	r.Variant = seen.Variant
	window := "not known"
	if !seen.ExpiresAt.IsZero() {
		end := seen.ExpiresAt
		r.ExpiresAt = &end
		window = "closes at " + end.Local().Format("15:04:05 MST")
	}
	money := "no real money"
	if r.Live {
		money = "REAL MONEY"
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(table, "  %s\t%s\n", label, api.Scrub(value))
		}
	}
	part := func(label string, m *api.Money) {
		if m != nil {
			row(label, m.String())
		}
	}
	row("Product", fmt.Sprintf("%s ×%d", seen.Product, seen.Quantity))
	row("Variant", string(seen.Variant))
	row("Merchant", string(seen.Merchant))
	part("Subtotal", seen.Cost.Subtotal)
	part("Shipping", seen.Cost.Shipping)
	part("Tax", seen.Cost.Tax)
	part("Discount", seen.Cost.Discount)
	part("Surcharge", seen.Cost.Surcharge)
	row("Total", seen.Total.String())
	row("Intent", string(seen.ID))
	row("Environment", seen.Environment+", "+money)
	row("Window", window)
	table.Flush()
}

// end takes down how the confirm ended.
func (r *confirmReport) end(o confirm.Outcome) {
	r.Verdict, r.Attempt, r.text = strings.ReplaceAll(string(o.Verdict), " ", "_"), o.Attempt, o.String()
	if o.Intent != nil {
		r.saw(o.Intent)
	}
	for _, d := range o.Differences {
		r.Differences = append(r.Differences, differenceReport{d.What, d.Seen, d.Now})
	}
	if o.Err != nil {
		r.Error = string(api.Scrub(o.Err.Error()))
	}
	r.code = exitCodeOf(o)
	switch placed := o.Verdict == confirm.Accepted || o.Verdict == confirm.Overtaken; {
	case placed && o.Proves() == confirm.NotPlaced:
		r.ordered(o.Intent)
	case r.code == exitUnknown:
		r.text += ". Do not buy it elsewhere; look at the intent, or run the same command again: it reads before it sends"
	}
}

// exitCodeOf tells a script what it may do: what is not proven to be bought nowhere
// must not look as if it were.
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

// unread takes down that the intent could not be read.
func (r *confirmReport) unread(o confirm.Outcome) {
	r.end(o)
	switch {
	case o.Unsettled:
	case errors.Is(o.Err, api.ErrNotFound):
		r.Verdict, r.code = "not_confirmable", exitNotConfirmable
		r.text = "nothing was sent: the service knows no such intent"
	default:
		r.text = "nothing was sent: reading the intent: " + r.Error
	}
}

// ordered takes down how the order ended.
func (r *confirmReport) ordered(in *api.Intent) {
	if in.State == api.Completed {
		r.text = "the order is placed"
		if r.code == exitAlready {
			r.text = "already confirmed, and the order is placed"
		}
		if len(in.OrderIDs) > 0 {
			ids := make([]string, len(in.OrderIDs))
			for i, id := range in.OrderIDs {
				ids[i] = string(id)
			}
			r.text += ": " + strings.Join(ids, ", ")
		}
		return
	}
	r.code, r.text = exitFailed, "confirmed, and then the order failed"
	if in.Failure != nil {
		r.text += fmt.Sprintf(": %s. %s", in.Failure.Code, in.Failure.Code.Advice())
	}
}

// print writes the object, or a sentence where all went well; else the sentence
// is the error.
func (r *confirmReport) print(w io.Writer, asJSON bool) error {
	r.ExitCode = r.code
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	if r.code != exitDone {
		return nil
	}
	_, err := fmt.Fprintln(w, api.Scrub(r.text))
	return err
}

func (r *confirmReport) failure() error {
	if r.code == exitDone {
		return nil
	}
	// Its text alone: an interrupt that it wraps is no reason to end quietly here.
	return &exitError{r.code, errors.New(r.text)}
}
