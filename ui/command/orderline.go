package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// orderLine is an order as it is now. Its JSON is the object of `order --json`.
type orderLine struct {
	Environment string         `json:"environment"`
	Live        bool           `json:"live"`
	Settled     bool           `json:"settled"` // whether all intents that may belong to it have been read
	Order       *account.Order `json:"order"`
	Closing     api.ID         `json:"closing,omitempty"` // the item whose confirm window closes first
	Ended       time.Time      `json:"ended_at,omitzero"` // missing while an item is open or its end is unknown
	Advice      string         `json:"advice,omitempty"`  // if it is partly failed

	ahead time.Duration // how far this machine's clock is ahead of the service's
}

func (l *intentReader) orderLine(o *account.Order, settled bool) orderLine {
	where := l.client.Environment()
	line := orderLine{Environment: where.Name, Live: where.Live, Settled: settled, Order: l.shared(o), Ended: o.Ended.UTC(), ahead: l.store.Summary().Ahead}
	if slices.ContainsFunc(o.Intents, func(in *account.Intent) bool { return in.Entered().IsZero() }) {
		line.Ended = time.Time{}
	}
	if o.PartlyFailed {
		line.Advice = string(o.Reference) + " " + o.Trouble()
	}
	if o.Closing != nil {
		line.Closing = o.Closing.ID
	}
	return line
}

// shared is the order with its items as they leave the process.
func (l *intentReader) shared(o *account.Order) *account.Order {
	out := *o
	out.Intents = nil
	for _, in := range o.Intents {
		all, known := l.store.Intent(in.ID)
		if !known {
			all = &account.IntentDetail{Intent: *in}
		}
		out.Intents = append(out.Intents, &all.Shared().Intent)
	}
	return &out
}

// sheet is the order for people.
func (l orderLine) sheet(now time.Time) string {
	s, o := &sheetWriter{}, l.Order
	mark := sign.Intent(o.Worst).String()
	if o.Worst != o.Best {
		mark += " … " + sign.Intent(o.Best).String()
	}
	s.apart(string(o.Reference), mark)
	s.row("environment", environmentText(l.Environment, l.Live))
	items := sign.Items(o)
	if !l.Settled {
		items = "at least " + items
	}
	s.row("items", items)
	for i, total := range o.Totals {
		text := total.String()
		if !l.Settled || o.Unpriced > 0 {
			text = "at least " + text
		}
		if i == 0 && o.Unpriced > 0 {
			text += fmt.Sprintf(": %d not known yet", o.Unpriced)
		}
		s.row("total", text)
	}
	if o.Closing != nil && !o.Closing.ExpiresAt.IsZero() {
		closes, at := o.Closing.ExpiresAt, now.Add(-l.ahead)
		s.row("confirm by", stamp(closes, at)+untilClosed(closes.Sub(at)))
	}
	s.row("ended", stamp(l.Ended, now))
	s.row("advice", l.Advice)
	s.line("", "ITEMS")
	for _, in := range o.Intents {
		name := string(in.Product)
		if in.Quantity > 1 {
			name = fmt.Sprintf("%d × %s", in.Quantity, name)
		}
		s.apart(fmt.Sprintf("%-13s %s", sign.Intent(in.State), name), inWords(in.Total))
		if in.Failure != nil && in.State == api.Failed {
			s.row("", "  "+wording.Name(string(in.Failure.Code)))
		}
		s.row("", "  "+strings.TrimSpace(string(in.Merchant)+"  "+string(in.ID)))
	}
	return s.String()
}

// apart writes text on the left and right on the right.
func (s *sheetWriter) apart(text, right string) {
	text = ansi.Truncate(text, sheetWidth-ansi.StringWidth(right)-2, "…")
	s.line(text + strings.Repeat(" ", max(2, sheetWidth-ansi.StringWidth(text)-ansi.StringWidth(right))) + right)
}
