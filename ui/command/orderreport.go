package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// orderReport is the object of `order --json`. Fields are added, never renamed.
type orderReport struct {
	Order        api.Text                `json:"order"` // its reference
	Environment  string                  `json:"environment"`
	Live         bool                    `json:"live"`
	Settled      bool                    `json:"settled"` // whether all existing intents have been read
	Worst        api.IntentState         `json:"worst"`   // of an item
	Best         api.IntentState         `json:"best"`
	Counts       map[api.IntentState]int `json:"counts"`   // items by state
	Totals       []*moneyReport          `json:"totals"`   // per currency, of items with a known total that have not failed
	Unpriced     int                     `json:"unpriced"` // items without a known total that have not failed
	PartlyFailed bool                    `json:"partly_failed"`
	Advice       string                  `json:"advice,omitempty"` // if it is partly failed
	Closing      api.ID                  `json:"closing"`          // the item whose confirm window closes first; "" if none awaits
	ClosesAt     *time.Time              `json:"closes_at"`
	EndedAt      *time.Time              `json:"ended_at"` // null while an item is open or its end is unknown
	Items        []orderItem             `json:"items"`    // by creation
}

// orderItem is an intent of an order.
type orderItem struct {
	Intent    api.ID          `json:"intent"`
	State     api.IntentState `json:"state"`
	Certainty string          `json:"certainty"` // hinted, reported, verified
	Missing   bool            `json:"missing"`
	Product   api.Text        `json:"product"`
	Merchant  api.Text        `json:"merchant"`
	Quantity  int             `json:"quantity"`
	Total     *moneyReport    `json:"total"`
	CreatedAt *time.Time      `json:"created_at"`
	ExpiresAt *time.Time      `json:"expires_at"`
	ReadAt    *time.Time      `json:"read_at"`
	Failure   *failureCode    `json:"failure"`
}

// failureCode is why an item failed, without the merchant's message, which may quote
// the buyer.
type failureCode struct {
	Code   api.FailureCode `json:"code"`
	Advice string          `json:"advice"`
}

func newOrderReport(o *account.Order, where api.Environment, picture report) orderReport {
	r := orderReport{
		Order: o.Reference, Environment: where.Name, Live: where.Live, Settled: picture.Settled,
		Worst: o.Worst, Best: o.Best, Counts: map[api.IntentState]int{}, Totals: []*moneyReport{}, Unpriced: o.Unpriced,
		PartlyFailed: o.PartlyFailed, EndedAt: moment(o.Ended),
	}
	if slices.ContainsFunc(o.Intents, func(in *account.Intent) bool { return in.Entered().IsZero() }) {
		r.EndedAt = nil
	}
	for state, n := range o.Counts {
		r.Counts[api.IntentState(api.Scrub(string(state)))] += n
	}
	for _, total := range o.Totals {
		r.Totals = append(r.Totals, moneyOf(&total))
	}
	if o.PartlyFailed {
		r.Advice = string(o.Reference) + " " + o.Trouble()
	}
	if o.Closing != nil {
		r.Closing, r.ClosesAt = o.Closing.ID, moment(o.Closing.ExpiresAt)
	}
	for _, in := range o.Intents {
		item := orderItem{
			Intent: in.ID, State: in.State, Certainty: in.Certainty.String(), Missing: in.Missing, Product: in.Product, Merchant: in.Merchant, Quantity: in.Quantity,
			Total: moneyOf(in.Total), CreatedAt: moment(in.CreatedAt), ExpiresAt: moment(in.ExpiresAt), ReadAt: moment(in.ReadAt),
		}
		if f := in.Failure; f != nil && in.State == api.Failed {
			item.Failure = &failureCode{f.Code, f.Code.Advice()}
		}
		r.Items = append(r.Items, item)
	}
	return r
}

// sheet is the report for people.
func (r orderReport) sheet(now time.Time) string {
	s := &sheetWriter{}
	mark := sign.Intent(r.Worst).String()
	if r.Worst != r.Best {
		mark += " … " + sign.Intent(r.Best).String()
	}
	s.apart(string(r.Order), mark)
	s.row("environment", r.Environment+map[bool]string{true: ", live: real money"}[r.Live])
	s.row("items", r.counted())
	for i, total := range r.Totals {
		text := total.String()
		if !r.Settled || r.Unpriced > 0 {
			text = "at least " + text
		}
		if i == 0 && r.Unpriced > 0 {
			text += fmt.Sprintf(": %d not known yet", r.Unpriced)
		}
		s.row("total", text)
	}
	if r.ClosesAt != nil {
		s.row("confirm by", stamp(r.ClosesAt, now)+intentReport{ExpiresAt: r.ClosesAt}.left(now))
	}
	s.row("ended", stamp(r.EndedAt, now))
	s.row("advice", r.Advice)
	s.line("", "ITEMS")
	for _, item := range r.Items {
		name := string(item.Product)
		if item.Quantity > 1 {
			name = fmt.Sprintf("%d × %s", item.Quantity, name)
		}
		total := ""
		if item.Total != nil {
			total = item.Total.String()
		}
		s.apart(fmt.Sprintf("%-13s %s", sign.Intent(item.State), name), total)
		if item.Failure != nil {
			s.row("", "  "+wording.Name(string(item.Failure.Code)))
		}
		s.row("", "  "+strings.TrimSpace(string(item.Merchant)+"  "+string(item.Intent)))
	}
	return s.String()
}

// counted counts the items by state.
func (r orderReport) counted() string {
	text := wording.Counted(len(r.Items), "item", "items")
	if !r.Settled {
		text = "at least " + text
	}
	between := ": "
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(r.Counts)), api.IntentState.Known)
	for _, state := range append(api.IntentStates(), others...) {
		if n := r.Counts[state]; n > 0 {
			text += between + wording.Count(n) + " " + sign.Intent(state).Word
			between = ", "
		}
	}
	return text
}

// apart writes text on the left and right on the right.
func (s *sheetWriter) apart(text, right string) {
	text = ansi.Truncate(text, sheetWidth-ansi.StringWidth(right)-2, "…")
	s.line(text + strings.Repeat(" ", max(2, sheetWidth-ansi.StringWidth(text)-ansi.StringWidth(right))) + right)
}
