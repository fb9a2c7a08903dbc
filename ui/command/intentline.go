package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/session"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

// intentLine is an intent as it is now, with all that is known about it. Its JSON is a line of
// `intent --json`; its text is Markdown, for a person, a colleague, or the service's support.
type intentLine struct {
	Environment string                `json:"environment"`
	Live        bool                  `json:"live"`
	Intent      *account.IntentDetail `json:"intent"`
	Shipments   []*account.Shipment   `json:"shipments,omitempty"`
	Requests    []api.Exchange        `json:"requests,omitempty"` // about it, as far as they are kept
	Buyer       *shownBuyer           `json:"buyer,omitempty"`    // only if personal data is shown
	Failure     *failureHelp          `json:"failure,omitempty"`

	Slow        bool                              `json:"slow,omitempty"`      // longer in its state than 95 % of this account's intents
	Stays       map[api.IntentState]time.Duration `json:"staysNs,omitempty"`   // in each past state
	HistoryRead bool                              `json:"events_told"`         // whether the relay's history is in the timeline
	Personal    bool                              `json:"personal_data_shown"` // the buyer's; payment tokens never are
	Program     string                            `json:"program"`             // the version of tillwatch
	MadeAt      time.Time                         `json:"made_at"`
	Body        json.RawMessage                   `json:"body,omitempty"` // the newest answer, masked

	service time.Time // when it was made, by the service's clock
}

// shownBuyer is a buyer that does not mask itself.
type shownBuyer api.Buyer

// failureHelp says what to do about a failure.
type failureHelp struct {
	Group  api.FailureGroup `json:"group"`
	Advice string           `json:"advice"`
}

// intentLineOf gathers what is known about an intent. historyRead is true if the relay's history
// is in its timeline.
func intentLineOf(s *session.Session, in *account.IntentDetail, reveal, historyRead bool, now time.Time) intentLine {
	where, sum := s.Client.Environment(), s.Store.Summary()
	l := intentLine{
		Environment: where.Name, Live: where.Live, Intent: in, Stays: in.Stays(), HistoryRead: historyRead,
		Personal: reveal, Program: version(), MadeAt: now.UTC(), service: now.Add(-sum.Ahead),
	}
	if pace, known := sum.Pace[in.State]; known && !in.State.Terminal() {
		l.Slow = pace.Slow(now.Sub(in.Since))
	}
	for _, id := range in.Shipments {
		if sh, known := s.Store.Shipment(id); known {
			l.Shipments = append(l.Shipments, sh)
		}
	}
	for _, e := range s.Store.RequestsAbout(append([]api.ID{in.ID}, in.Shipments...)...) {
		l.Requests = append(l.Requests, account.SharedRequest(e))
	}
	latest := latestOf(in)
	if reveal {
		l.Buyer = (*shownBuyer)(latest.Buyer)
	}
	if f := latest.Failure; f != nil {
		l.Failure = &failureHelp{f.Code.Group(), f.Code.Advice()}
	}
	quoted := latest.Failure != nil && latest.Buyer.QuotedIn(latest.Failure.Message)
	if len(latest.Raw) > 0 && (reveal || !quoted) {
		l.Body = api.Masked(latest.Raw)
	}
	return l
}

// latestOf is the newest answer about an intent; empty if there is none.
func latestOf(in *account.IntentDetail) *api.Intent { return cmp.Or(in.Latest, &api.Intent{}) }

// shown is the intent, masked as in a recording unless personal data is to be shown.
func (l *intentLine) shown() *account.IntentDetail {
	if l.Personal {
		return l.Intent
	}
	return l.Intent.Shared()
}

// MarshalJSON masks the line as a recording does, unless personal data is to be shown.
func (l intentLine) MarshalJSON() ([]byte, error) {
	type plain intentLine
	l.Intent, l.Shipments = l.shown(), l.shownShipments()
	return json.Marshal(plain(l))
}

// shownShipments are the shipments, masked like the intent.
func (l *intentLine) shownShipments() (all []*account.Shipment) {
	for _, sh := range l.Shipments {
		if !l.Personal {
			sh = sh.Shared()
		}
		all = append(all, sh)
	}
	return all
}

// text is the intent as Markdown. Times are in UTC, as the reader may be anywhere.
func (l intentLine) text() string {
	in := l.shown()
	title := sign.Intent(in.State).Glyph + " " + marked(cmp.Or(wording.Name(string(in.State)), "unknown"))
	if in.Product != "" {
		title += " · " + marked(string(in.Product))
	}
	masked := "The buyer and payment tokens are masked."
	if l.Personal {
		masked = "**Personal data of the buyer is shown.** Payment tokens are masked."
	}
	return "# " + title + "\n\n" + masked + "\n\n" +
		list("", l.overview(in)) +
		list("Why it failed", l.failure(in)) +
		list("Offer", l.offer(in)) +
		list("Buyer", l.buyer()) +
		list("Shipments", l.parcels()) +
		list("Timeline", l.moments()) +
		list("Requests", l.requests()) +
		list("Made by", []fact{{"tillwatch", marked(l.Program) + ", on " + runtime.GOOS + "/" + runtime.GOARCH},
			{"At", utc(l.MadeAt)}, {"Interface of the service", "/api/v1"}})
}

// list is a Markdown list of the facts that have a value, below their title; "" for none.
func list(title string, facts []fact) string {
	var items string
	for _, f := range facts {
		if f.value != "" {
			items += "- " + strings.TrimPrefix(f.label+": "+f.value, ": ") + "\n"
		}
	}
	if items != "" && title != "" {
		return "\n## " + title + "\n\n" + items
	}
	return items
}

func (l *intentLine) overview(in *account.IntentDetail) []fact {
	latest := latestOf(in)
	facts := []fact{
		{"Intent", marked(string(in.ID))}, {"Environment", marked(environmentText(l.Environment, l.Live))},
		{"State", l.state()}, {"Created", utc(in.CreatedAt)},
	}
	if in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero() {
		facts = append(facts, fact{"Confirm by", utc(in.ExpiresAt) + untilClosed(in.ExpiresAt.Sub(l.service))})
	}
	page := latestOf(l.Intent).ProductURL
	if !l.Personal {
		page = api.MaskAddress(page)
	}
	facts = append(facts, fact{"Merchant", marked(string(in.Merchant))}, fact{"Page", marked(string(page))})
	if in.Quantity > 0 {
		facts = append(facts, fact{"Quantity", wording.Count(in.Quantity)})
	}
	for _, v := range latest.Variants {
		facts = append(facts, fact{marked(string(v.Label)), marked(string(v.Value))})
	}
	facts = append(facts, fact{"Reference", marked(string(in.ReferenceID))}, fact{"Order ids", marked(joinedTexts(latest.OrderIDs))})
	if latest.Payment != nil {
		facts = append(facts, fact{"Payment", marked(wording.Name(string(latest.Payment.Type)))})
	}
	return facts
}

// state says in which state the intent is, since when, and how certain that is.
func (l *intentLine) state() string {
	in := l.Intent
	switch {
	case in.State == "" && in.Missing:
		return "not known: the service answered 404 to the last read"
	case in.State == "":
		return "not known: all that is known is that the intent exists"
	}
	text := marked(wording.Name(string(in.State)))
	if entered := in.Entered(); !entered.IsZero() {
		text += " since " + utc(entered)
		if in.Found {
			text += " or before"
		}
		if l.Slow {
			text += ", slower than usual here"
		}
	}
	switch {
	case in.Missing:
		return text + ", but the service answered 404 to the last read"
	case in.Certainty == account.Verified:
		return text + ", read at " + utc(in.ReadAt)
	case in.StateBy() == account.ByProxy:
		return text + ", as a proxy saw it, not read since"
	}
	return text + ", reported by an event, not read since"
}

func (l *intentLine) failure(in *account.IntentDetail) []fact {
	f := latestOf(in).Failure
	if l.Failure == nil || f == nil {
		return nil
	}
	return []fact{{"Reason", marked(string(f.Code)) + ", " + marked(string(l.Failure.Group))},
		{"Message", marked(string(f.Message))}, {"What to do", l.Failure.Advice}}
}

func (l *intentLine) offer(in *account.IntentDetail) (facts []fact) {
	offer := cmp.Or(latestOf(in).Offer, &api.Offer{Cost: api.Cost{Total: in.Total}})
	for _, part := range offer.Cost.Parts() {
		facts = append(facts, fact{part.Name, marked(amountOf(part))})
	}
	return append(facts, fact{"Total", marked(inWords(offer.Cost.Total))},
		fact{"Delivery", marked(shipping(offer.Option(), time.UTC))}, fact{"Promo codes", marked(joinedTexts(offer.AppliedPromoCodes))})
}

func (l *intentLine) buyer() []fact {
	b := (*api.Buyer)(l.Buyer)
	if b == nil {
		return nil
	}
	lines := []api.Text{b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country}
	address := slices.DeleteFunc(lines, func(line api.Text) bool { return line == "" })
	return []fact{{"Name", marked(strings.TrimSpace(string(b.FirstName) + " " + string(b.LastName)))},
		{"Email", marked(string(b.Email))}, {"Phone", marked(string(b.Phone))}, {"Address", marked(joinedTexts(address))}}
}

func (l *intentLine) parcels() (facts []fact) {
	for _, sh := range l.shownShipments() {
		latest := cmp.Or(sh.Latest, &api.Shipment{})
		tracking := cmp.Or(latest.Tracking, &api.Tracking{})
		status := sign.Shipment(latest.Status)
		parts := []string{status.Glyph + " " + marked(status.Word), marked(string(tracking.Carrier)), marked(string(tracking.Number)),
			marked(string(tracking.URL))}
		switch {
		case !latest.DeliveredAt.IsZero():
			parts = append(parts, "delivered "+utc(latest.DeliveredAt))
		case !tracking.Estimated.IsZero():
			parts = append(parts, "expected "+account.Estimate(tracking.Estimated, time.UTC).Format("Jan 2"))
		}
		parts = append(parts, wording.Late(sh.Late(l.MadeAt)))
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		facts = append(facts, fact{marked(string(sh.ID)), strings.Join(parts, " · ")})
	}
	return facts
}

func (l *intentLine) moments() (facts []fact) {
	for _, moment := range l.Intent.Timeline {
		text := timeline.Marked(moment, marked) + " (" + moment.By().String()
		if moment.EventID != "" {
			text += " " + marked(string(moment.EventID))
		}
		if delay := moment.Learnt.Sub(moment.When); delay >= time.Second {
			text += ", received " + wording.Age(delay) + " later"
		}
		facts = append(facts, fact{utc(moment.When), text + ")"})
	}
	if facts != nil && !l.HistoryRead {
		facts = append(facts, fact{"", "The relay's history is missing, so events may be missing."})
	}
	return facts
}

// requests are those about the intent.
func (l *intentLine) requests() (facts []fact) {
	for _, q := range l.Requests {
		answer := "no answer"
		if q.Status > 0 {
			answer = fmt.Sprint(q.Status)
		}
		text := marked(q.Method) + " " + marked(q.Path) + " → " + answer
		if q.RequestID != "" {
			text += ", request id " + marked(string(q.RequestID))
		}
		if q.By != "" {
			text += ", sent by " + marked(string(q.By))
		}
		facts = append(facts, fact{utc(q.Sent), text})
	}
	return facts
}

// shipping names a shipping option and when the order comes by it.
func shipping(o api.ShippingOption, where *time.Location) string {
	return wording.Shipping(o, func(t time.Time) string { return wording.Estimate(t, where) })
}

func environmentText(name string, live bool) string {
	if live {
		name += ", live: real money"
	}
	return name
}

// untilClosed says how long a confirm window is still open.
func untilClosed(left time.Duration) string {
	if left <= 0 {
		return ", which is over"
	}
	return ", in " + wording.Age(left)
}
