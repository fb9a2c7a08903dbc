package command

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// markdown is the report for a colleague or the service's support. Times are in UTC,
// as the reader may be anywhere.
func (r intentReport) markdown() string {
	m := &markdownWriter{}
	m.line("# "+sign.Intent(r.State).Glyph+" "+marked(wording.Name(string(r.State))), marked(string(r.Product)))
	m.WriteString("\n")
	if r.Personal {
		m.WriteString("**Personal data of the buyer is shown.** Payment tokens are masked.\n\n")
	} else {
		m.WriteString("The buyer and payment tokens are masked.\n\n")
	}
	m.item("Intent", coded(string(r.Intent)))
	m.item("Environment", marked(r.Environment)+map[bool]string{true: ", live: real money"}[r.Live])
	m.item("State", marked(string(r.State))+since(r.Since)+", "+r.grounds())
	m.item("Created", utc(r.CreatedAt))
	if r.State == api.AwaitingConfirmation {
		m.item("Confirm by", utc(r.ExpiresAt))
	}
	m.item("Merchant", marked(string(r.Merchant)))
	m.item("Product page", marked(string(r.ProductURL)))
	if r.Quantity > 0 {
		m.item("Quantity", wording.Count(r.Quantity))
	}
	for _, v := range r.Variants {
		m.item("Variant", marked(string(v.Label)+": "+string(v.Value)))
	}
	m.item("Reference", marked(string(r.ReferenceID)))
	for _, id := range r.OrderIDs {
		m.item("Merchant's order", coded(string(id)))
	}
	m.item("Payment", marked(wording.Name(string(r.Payment))))
	m.buyer(r.Buyer)
	m.failure(r.Failure)
	m.offer(r)
	m.shipments(r.Shipments)
	m.timeline(r)
	m.requests(r.Requests)
	m.heading("Made by")
	m.item("tillwatch", marked(r.Program)+", on "+runtime.GOOS+"/"+runtime.GOARCH)
	m.item("At", utc(&r.MadeAt))
	m.item("Interface of the service", "/api/v1")
	return m.String()
}

// grounds says how certain the state is.
func (r intentReport) grounds() string {
	switch {
	case r.Missing:
		return "but the service answered 404 to the last read"
	case r.Certainty == "verified":
		return "read at " + utc(r.ReadAt)
	case r.Certainty == "reported":
		return "reported by an event, not read since"
	}
	return "known only to exist"
}

func since(t *time.Time) string {
	if t == nil {
		return ""
	}
	return " since " + utc(t)
}

func utc(t *time.Time) string {
	if t == nil {
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

func (m *markdownWriter) buyer(buyer any) {
	b, shown := buyer.(buyerReport)
	if !shown {
		return
	}
	m.heading("Buyer")
	m.item("Name", marked(strings.TrimSpace(string(b.FirstName)+" "+string(b.LastName))))
	m.item("Email", marked(string(b.Email)))
	m.item("Phone", marked(string(b.Phone)))
	for _, line := range []api.Text{b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country} {
		m.item("Address", marked(string(line)))
	}
}

func (m *markdownWriter) failure(f *intentFailure) {
	if f == nil {
		return
	}
	m.heading("Why it failed")
	m.item("Reason", coded(string(f.Code))+", "+marked(string(f.Group)))
	m.item("Message", marked(string(f.Message)))
	m.item("What to do", f.Advice)
}

func (m *markdownWriter) offer(r intentReport) {
	offer := r.Offer
	if offer == nil && r.Total == nil {
		return
	} else if offer == nil {
		offer = &offerReport{Total: r.Total}
	}
	m.heading("Offer")
	for _, part := range offer.parts {
		if part.Amount != nil {
			m.item(part.Name, marked(part.Amount.String()))
		}
	}
	if offer.Total != nil {
		m.item("Total", "**"+marked(offer.Total.String())+"**")
	}
	m.item("Promo codes", marked(joinedTexts(offer.PromoCodes)))
}

func (m *markdownWriter) shipments(all []shipmentReport) {
	if len(all) == 0 {
		return
	}
	m.heading("Shipments")
	for _, sh := range all {
		parts := []string{marked(sign.Shipment(sh.Status).Word)}
		for _, more := range []string{marked(string(sh.Carrier)), marked(string(sh.Number)), marked(string(sh.URL))} {
			if more != "" {
				parts = append(parts, more)
			}
		}
		switch {
		case sh.DeliveredAt != nil:
			parts = append(parts, "delivered "+utc(sh.DeliveredAt))
		case sh.Estimated != nil:
			parts = append(parts, "expected "+utc(sh.Estimated))
		}
		if late := wording.Late(sh.DaysLate); late != "" {
			parts = append(parts, "**"+late+"**")
		}
		m.item(coded(string(sh.Shipment)), strings.Join(parts, " · "))
	}
}

func (m *markdownWriter) timeline(r intentReport) {
	if len(r.Timeline) == 0 {
		return
	}
	m.heading("Timeline")
	for _, moment := range r.Timeline {
		text := marked(moment.Text) + " (" + moment.How
		if moment.Event != "" {
			text += " " + coded(string(moment.Event))
		}
		if delay := moment.Learnt.Sub(moment.At); delay >= time.Second {
			text += ", received " + wording.Lasting(delay) + " later"
		}
		m.item(utc(&moment.At), text+")")
	}
	if !r.EventsTold {
		m.WriteString("\nThe relay's history is missing, so events may be missing.\n")
	}
}

func (m *markdownWriter) requests(all []requestReport) {
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
		m.item(utc(&q.At), text)
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
