package command

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

// markdown is the intent for a colleague or the service's support. Times are in UTC,
// as the reader may be anywhere.
func (l *intentLine) markdown() string {
	m, in := &markdownWriter{}, l.shown()
	latest := latestOf(in)
	m.line("# "+sign.Intent(in.State).Glyph+" "+marked(wording.Name(string(in.State))), marked(string(in.Product)))
	m.WriteString("\n")
	if l.Personal {
		m.WriteString("**Personal data of the buyer is shown.** Payment tokens are masked.\n\n")
	} else {
		m.WriteString("The buyer and payment tokens are masked.\n\n")
	}
	m.item("Intent", coded(string(in.ID)))
	m.item("Environment", marked(environmentText(l.Environment, l.Live)))
	m.item("State", marked(string(in.State))+since(in)+", "+grounds(in))
	m.item("Created", utc(in.CreatedAt))
	if in.State == api.AwaitingConfirmation {
		m.item("Confirm by", utc(in.ExpiresAt))
	}
	m.item("Merchant", marked(string(in.Merchant)))
	m.item("Product page", marked(string(l.address(l.latest().ProductURL))))
	if in.Quantity > 0 {
		m.item("Quantity", wording.Count(in.Quantity))
	}
	for _, v := range latest.Variants {
		m.item("Variant", marked(string(v.Label)+": "+string(v.Value)))
	}
	m.item("Reference", marked(string(in.ReferenceID)))
	for _, id := range latest.OrderIDs {
		m.item("Merchant's order", coded(string(id)))
	}
	if latest.Payment != nil {
		m.item("Payment", marked(wording.Name(string(latest.Payment.Type))))
	}
	m.buyer(l.Buyer)
	m.failure(l)
	m.offer(in)
	m.shipments(l)
	m.timeline(l)
	m.requests(l.Requests)
	m.heading("Made by")
	m.item("tillwatch", marked(l.Program)+", on "+runtime.GOOS+"/"+runtime.GOARCH)
	m.item("At", utc(l.MadeAt))
	m.item("Interface of the service", "/api/v1")
	return m.String()
}

// grounds says how certain the state is.
func grounds(in *account.IntentDetail) string {
	switch {
	case in.Missing:
		return "but the service answered 404 to the last read"
	case in.Certainty == account.Verified:
		return "read at " + utc(in.ReadAt)
	case in.Certainty == account.Reported:
		return "reported by an event, not read since"
	}
	return "known only to exist"
}

func since(in *account.IntentDetail) string {
	switch t := in.Entered(); {
	case t.IsZero():
		return ""
	case in.Found:
		return " since " + utc(t) + " or before"
	default:
		return " since " + utc(t)
	}
}

// utc is a time in UTC; "" if it is not known.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// markdownWriter writes lists of facts.
type markdownWriter struct{ strings.Builder }

func (m *markdownWriter) line(parts ...string) {
	m.WriteString(strings.TrimSuffix(strings.Join(parts, " · "), " · ") + "\n")
}

func (m *markdownWriter) heading(text string) { m.WriteString("\n## " + text + "\n\n") }

// item writes a label and its value, if there is one.
func (m *markdownWriter) item(label, value string) {
	if value != "" {
		m.WriteString("- " + label + ": " + value + "\n")
	}
}

func (m *markdownWriter) buyer(shown *shownBuyer) {
	if shown == nil {
		return
	}
	b := (*api.Buyer)(shown)
	m.heading("Buyer")
	m.item("Name", marked(strings.TrimSpace(string(b.FirstName)+" "+string(b.LastName))))
	m.item("Email", marked(string(b.Email)))
	m.item("Phone", marked(string(b.Phone)))
	for _, line := range addressLines(b) {
		m.item("Address", marked(string(line)))
	}
}

func (m *markdownWriter) failure(l *intentLine) {
	if l.Failure == nil {
		return
	}
	m.heading("Why it failed")
	m.item("Reason", coded(string(l.latest().Failure.Code))+", "+marked(string(l.Failure.Group)))
	m.item("Message", marked(string(l.message())))
	m.item("What to do", l.Failure.Advice)
}

func (m *markdownWriter) offer(in *account.IntentDetail) {
	offer := api.Offer{Cost: api.Cost{Total: in.Total}}
	if in.Latest != nil && in.Latest.Offer != nil {
		offer = *in.Latest.Offer
	} else if in.Total == nil {
		return
	}
	m.heading("Offer")
	for _, part := range offer.Cost.Parts() {
		m.item(part.Name, marked(inWords(part.Amount)))
	}
	if offer.Cost.Total != nil {
		m.item("Total", "**"+marked(offer.Cost.Total.String())+"**")
	}
	m.item("Promo codes", marked(joinedTexts(offer.AppliedPromoCodes)))
}

func (m *markdownWriter) shipments(l *intentLine) {
	if len(l.Shipments) == 0 {
		return
	}
	m.heading("Shipments")
	for _, sh := range l.Shipments {
		latest, tracking := shipmentParts(sh)
		parts := []string{marked(sign.Shipment(latest.Status).Word)}
		for _, more := range []api.Text{tracking.Carrier, tracking.Number, l.address(tracking.URL)} {
			if more != "" {
				parts = append(parts, marked(string(more)))
			}
		}
		switch {
		case !latest.DeliveredAt.IsZero():
			parts = append(parts, "delivered "+utc(latest.DeliveredAt))
		case !tracking.Estimated.IsZero():
			parts = append(parts, "expected "+utc(tracking.Estimated))
		}
		if late := wording.Late(sh.Late(l.MadeAt)); late != "" {
			parts = append(parts, "**"+late+"**")
		}
		m.item(coded(string(sh.ID)), strings.Join(parts, " · "))
	}
}

func (m *markdownWriter) timeline(l *intentLine) {
	if len(l.Intent.Timeline) == 0 {
		return
	}
	m.heading("Timeline")
	for _, moment := range l.Intent.Timeline {
		text := marked(timeline.Sentence(moment)) + " (" + moment.By().String()
		if moment.EventID != "" {
			text += " " + coded(string(moment.EventID))
		}
		if delay := moment.Learnt.Sub(moment.When); delay >= time.Second {
			text += ", received " + wording.Age(delay) + " later"
		}
		m.item(utc(moment.When), text+")")
	}
	if !l.EventsTold {
		m.WriteString("\nThe relay's history is missing, so events may be missing.\n")
	}
}

func (m *markdownWriter) requests(all []api.Exchange) {
	if len(all) == 0 {
		return
	}
	m.heading("Requests")
	for _, q := range all {
		text := marked(q.Method) + " " + coded(q.Path) + " → no answer"
		if q.Status > 0 {
			text = fmt.Sprintf("%s %s → %d", marked(q.Method), coded(q.Path), q.Status)
		}
		if q.RequestID != "" {
			text += ", request id " + coded(string(q.RequestID))
		}
		if q.By != "" {
			text += ", sent by " + marked(string(q.By))
		}
		m.item(utc(q.Sent), text)
	}
}

// marked escapes remote text for Markdown: text that could mean anything there, even
// a link, becomes code.
func marked(text string) string {
	for i, r := range text {
		switch {
		case r == ' ', r == ',', r == '-', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r > 0x9f:
		case (r == '.' || r == ':') && (i+1 == len(text) || text[i+1] == ' ' || r == '.' && '0' <= text[i+1] && text[i+1] <= '9'):
		default:
			return coded(text)
		}
	}
	return strings.TrimSpace(text)
}

// coded is text as code.
func coded(text string) string {
	text = strings.TrimSpace(string(api.Scrub(text)))
	if text == "" {
		return ""
	}
	fence, run := "`", 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		if run >= len(fence) {
			fence = strings.Repeat("`", run+1)
		}
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
