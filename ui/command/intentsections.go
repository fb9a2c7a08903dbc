package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

// section is a part of what is said about an intent.
type section struct {
	title string // "" for the first
	facts []fact
}

// intentSections says what is known about an intent, masked as in a recording unless
// personal data is to be shown.
type intentSections struct {
	*intentLine
	where *time.Location
	at    func(time.Time) string // writes a time; "" if it is not known
	mark  func(string) string    // writes text that came from outside
}

// all are the sections. Some may be empty.
func (s intentSections) all() []section {
	return []section{
		{"", s.overview()}, {"Why it failed", s.failure()}, {"Offer", s.offer()}, {"Buyer", s.buyer()},
		{"Shipments", s.shipments()}, {"Timeline", s.timeline()},
	}
}

// sheet is the intent for people.
func (l *intentLine) sheet() string {
	s, in := &sheetWriter{}, l.shown()
	s.apart(cmp.Or(string(in.Product), string(in.ID)), sign.Intent(in.State).String())
	about := intentSections{l, time.Local, func(t time.Time) string { return stamp(t, l.MadeAt) }, func(text string) string { return text }}
	for _, part := range about.all() {
		s.section(part)
	}
	if !l.Personal && l.latest().Buyer != nil {
		s.section(section{"Buyer", []fact{{"", "masked: --reveal shows it"}}})
	}
	return s.String()
}

func (s intentSections) overview() []fact {
	in := s.shown()
	latest := latestOf(in)
	facts := []fact{
		{"Intent", s.mark(string(in.ID))}, {"Environment", s.mark(environmentText(s.Environment, s.Live))},
		{"State", s.state()}, {"Created", s.at(in.CreatedAt)},
	}
	if in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero() {
		facts = append(facts, fact{"Confirm by", s.at(in.ExpiresAt) + untilClosed(in.ExpiresAt.Sub(s.service))})
	}
	facts = append(facts, fact{"Merchant", s.mark(string(in.Merchant))}, fact{"Page", s.mark(string(s.address(s.latest().ProductURL)))})
	if in.Quantity > 0 {
		facts = append(facts, fact{"Quantity", wording.Count(in.Quantity)})
	}
	for _, v := range latest.Variants {
		facts = append(facts, fact{s.mark(string(v.Label)), s.mark(string(v.Value))})
	}
	facts = append(facts, fact{"Reference", s.mark(string(in.ReferenceID))}, fact{"Order ids", s.mark(joinedTexts(latest.OrderIDs))})
	if latest.Payment != nil {
		facts = append(facts, fact{"Payment", s.mark(wording.Name(string(latest.Payment.Type)))})
	}
	return facts
}

// state says in which state the intent is, as far as that is known.
func (s intentSections) state() string {
	switch in := s.Intent; {
	case in.State != "":
		return s.mark(wording.Name(string(in.State))) + s.since() + ", " + s.grounds()
	case in.Missing:
		return "not known: the service answered 404 to the last read"
	}
	return "not known: all that is known is that the intent exists"
}

// since says since when the intent has been in its state, and whether that is unusually long.
func (s intentSections) since() string {
	entered := s.Intent.Entered()
	if entered.IsZero() {
		return ""
	}
	text := " since " + s.at(entered)
	if s.Intent.Found {
		text += " or before"
	}
	if s.Slow {
		text += ", slower than usual here"
	}
	return text
}

// grounds says how certain the state is.
func (s intentSections) grounds() string {
	switch in := s.Intent; {
	case in.Missing:
		return "but the service answered 404 to the last read"
	case in.Certainty == account.Verified:
		return "read at " + s.at(in.ReadAt)
	case in.StateBy() == account.ByProxy:
		return "as a proxy saw it, not read since"
	}
	return "reported by an event, not read since"
}

func (s intentSections) failure() []fact {
	if s.Failure == nil {
		return nil
	}
	return []fact{
		{"Reason", s.mark(string(s.latest().Failure.Code)) + ", " + s.mark(string(s.Failure.Group))},
		{"Message", s.mark(string(s.message()))}, {"What to do", s.Failure.Advice},
	}
}

func (s intentSections) offer() (facts []fact) {
	in := s.shown()
	offer := api.Offer{Cost: api.Cost{Total: in.Total}}
	if in.Latest != nil && in.Latest.Offer != nil {
		offer = *in.Latest.Offer
	}
	amounts := offer.Cost.Parts()
	if total := offer.Cost.Total; total != nil {
		amounts = append(amounts, api.CostPart{Name: "Total", Amount: total})
	}
	for _, part := range amounts {
		facts = append(facts, fact{part.Name, s.mark(amountOf(part))})
	}
	return append(facts, fact{"Delivery", s.mark(shipping(offer.Option(), s.where))}, fact{"Promo codes", s.mark(joinedTexts(offer.AppliedPromoCodes))})
}

// shipping names a shipping option and when the order comes by it.
func shipping(o api.ShippingOption, where *time.Location) string {
	return wording.Shipping(o, func(t time.Time) string { return wording.Estimate(t, where) })
}

func (s intentSections) buyer() []fact {
	if s.Buyer == nil {
		return nil
	}
	b := (*api.Buyer)(s.Buyer)
	address := slices.DeleteFunc([]api.Text{b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country}, func(line api.Text) bool { return line == "" })
	return []fact{
		{"Name", s.mark(strings.TrimSpace(string(b.FirstName) + " " + string(b.LastName)))},
		{"Email", s.mark(string(b.Email))}, {"Phone", s.mark(string(b.Phone))}, {"Address", s.mark(joinedTexts(address))},
	}
}

func (s intentSections) shipments() (facts []fact) {
	for _, sh := range s.Shipments {
		var latest api.Shipment
		var tracking api.Tracking
		if sh.Latest != nil {
			latest = *sh.Latest
		}
		if latest.Tracking != nil {
			tracking = *latest.Tracking
		}
		status := sign.Shipment(latest.Status)
		parts := []string{status.Glyph + " " + s.mark(status.Word)}
		for _, more := range []api.Text{tracking.Carrier, tracking.Number, s.address(tracking.URL)} {
			if more != "" {
				parts = append(parts, s.mark(string(more)))
			}
		}
		switch {
		case !latest.DeliveredAt.IsZero():
			parts = append(parts, "delivered "+s.at(latest.DeliveredAt))
		case !tracking.Estimated.IsZero():
			parts = append(parts, "expected "+account.Estimate(tracking.Estimated, s.where).Format("Jan 2"))
		}
		if late := wording.Late(sh.Late(s.MadeAt.In(s.where))); late != "" {
			parts = append(parts, late)
		}
		facts = append(facts, fact{s.mark(string(sh.ID)), strings.Join(parts, " · ")})
	}
	return facts
}

func (s intentSections) timeline() (facts []fact) {
	for _, moment := range s.Intent.Timeline {
		text := timeline.Marked(moment, s.mark) + " (" + moment.By().String()
		if moment.EventID != "" {
			text += " " + s.mark(string(moment.EventID))
		}
		if delay := moment.Learnt.Sub(moment.When); delay >= time.Second {
			text += ", received " + wording.Age(delay) + " later"
		}
		facts = append(facts, fact{s.at(moment.When), text + ")"})
	}
	if facts != nil && !s.HistoryRead {
		facts = append(facts, fact{"", "The relay's history is missing, so events may be missing."})
	}
	return facts
}

// requests are those about the intent.
func (s intentSections) requests() (facts []fact) {
	for _, q := range s.Requests {
		answer := "no answer"
		if q.Status > 0 {
			answer = fmt.Sprint(q.Status)
		}
		text := s.mark(q.Method) + " " + s.mark(q.Path) + " → " + answer
		if q.RequestID != "" {
			text += ", request id " + s.mark(string(q.RequestID))
		}
		if q.By != "" {
			text += ", sent by " + s.mark(string(q.By))
		}
		facts = append(facts, fact{s.at(q.Sent), text})
	}
	return facts
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
