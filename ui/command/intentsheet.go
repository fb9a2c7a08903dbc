package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// Widths of a sheet, in cells.
const (
	sheetWidth = 80
	sheetLabel = 12
)

// sheet is the report for people.
func (r intentReport) sheet(now time.Time) string {
	s := &sheetWriter{}
	name := string(r.Product)
	if name == "" {
		name = string(r.Intent)
	}
	if r.Quantity > 1 {
		name = fmt.Sprintf("%d × %s", r.Quantity, name)
	}
	s.apart(name, sign.Intent(r.State).String())
	s.row("intent", string(r.Intent))
	s.row("environment", r.Environment+map[bool]string{true: ", live: real money"}[r.Live])
	s.row("known", r.known(now))
	s.row("merchant", string(r.Merchant))
	s.row("state", wording.Name(string(r.State))+r.standing(now))
	s.row("created", stamp(r.CreatedAt, now))
	if r.State == api.AwaitingConfirmation && r.ExpiresAt != nil {
		s.row("confirm by", stamp(r.ExpiresAt, now)+r.left(now))
	}
	r.why(s)
	r.money(s)
	for _, v := range r.Variants {
		s.row(strings.ToLower(string(v.Label)), string(v.Value))
	}
	s.row("url", string(r.ProductURL))
	s.row("reference", string(r.ReferenceID))
	s.row("order ids", joinedTexts(r.OrderIDs))
	if r.Payment != "" {
		s.row("payment", wording.Name(string(r.Payment)))
	}
	r.buyer(s)
	r.parcels(s, now)
	r.line(s, now)
	return s.String()
}

func (r intentReport) known(now time.Time) string {
	switch {
	case r.Missing:
		return "the service answered 404 to the last read"
	case r.Certainty == "verified":
		return "read " + ago(age(now, *r.ReadAt))
	case r.Certainty == "reported":
		return "not read: an event reported this state"
	}
	return "its state is not known yet"
}

func (r intentReport) standing(now time.Time) string {
	if r.Since == nil {
		return ""
	}
	text := " since " + stamp(r.Since, now)
	if r.Slow {
		text += ", slower than usual here"
	}
	return text
}

func (r intentReport) left(now time.Time) string {
	left := r.ExpiresAt.Sub(now)
	if left <= 0 {
		return ", which is over"
	}
	return ", in " + left.Round(time.Second).String()
}

func (r intentReport) why(s *sheetWriter) {
	if r.Failure == nil {
		return
	}
	s.row("failed", wording.Name(string(r.Failure.Code)))
	s.row("", string(r.Failure.Message))
	s.row("", r.Failure.Advice)
}

func (r intentReport) money(s *sheetWriter) {
	if r.Total == nil {
		return
	}
	if r.Offer == nil {
		s.row("total", r.Total.String())
		return
	}
	var parts []string
	for _, part := range r.Offer.parts {
		if part.Amount != nil {
			parts = append(parts, strings.ToLower(part.Name)+" "+part.Amount.Amount())
		}
	}
	text := r.Total.String()
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	s.row("total", text)
	s.row("promo codes", joinedTexts(r.Offer.PromoCodes))
}

func (r intentReport) buyer(s *sheetWriter) {
	switch b := r.Buyer.(type) {
	case nil:
	case buyerReport:
		s.row("buyer", strings.TrimSpace(string(b.FirstName)+" "+string(b.LastName)))
		s.row("email", string(b.Email))
		s.row("phone", string(b.Phone))
		var parts []api.Text
		for _, part := range []api.Text{b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		s.row("address", joinedTexts(parts))
	default:
		s.row("buyer", "masked: --reveal shows it")
	}
}

func (r intentReport) parcels(s *sheetWriter, now time.Time) {
	if len(r.Shipments) == 0 {
		return
	}
	s.line("", "SHIPMENTS")
	for _, sh := range r.Shipments {
		text := sign.Shipment(sh.Status).String()
		if tracking := strings.TrimSpace(string(sh.Carrier) + " " + string(sh.Number)); tracking != "" {
			text += "  " + tracking
		}
		switch {
		case sh.DeliveredAt != nil:
			text += "  delivered " + stamp(sh.DeliveredAt, now)
		case sh.Estimated != nil:
			text += "  expected " + sh.Estimated.Format("Jan 2")
			if late := wording.Late(sh.DaysLate); late != "" {
				text += ", " + late
			}
		}
		s.row("", text)
		s.row("", string(sh.Shipment))
	}
}

func (r intentReport) line(s *sheetWriter, now time.Time) {
	if len(r.Timeline) == 0 {
		return
	}
	s.line("", "TIMELINE")
	width := 0
	for _, m := range r.Timeline {
		width = max(width, len(stamp(&m.At, now)))
	}
	for _, m := range r.Timeline {
		s.wrapped(fmt.Sprintf("%-*s  ", width, stamp(&m.At, now)), m.Text+" ("+m.How+")")
	}
}

// sheetWriter writes rows within the width of a sheet.
type sheetWriter struct{ strings.Builder }

func (s *sheetWriter) line(lines ...string) {
	for _, line := range lines {
		s.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// row writes a label and its value, if there is one.
func (s *sheetWriter) row(label, value string) {
	if value != "" {
		s.wrapped(fmt.Sprintf("%-*s", sheetLabel, ansi.Truncate(label, sheetLabel-1, "…")), value)
	}
}

// wrapped writes head and text, and wraps the text below itself.
func (s *sheetWriter) wrapped(head, text string) {
	width := ansi.StringWidth(head)
	for i, part := range strings.Split(ansi.Wrap(text, sheetWidth-width, ""), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", width)
		}
		s.line(head + part)
	}
}

// stamp is a local time, with its date unless that is today.
func stamp(t *time.Time, now time.Time) string {
	if t == nil {
		return ""
	}
	local, today := t.Local(), now.Local()
	if local.Format(time.DateOnly) == today.Format(time.DateOnly) {
		return timeOfDay(local)
	}
	return local.Format(time.DateTime)
}

func timeOfDay(t time.Time) string { return t.Local().Format(time.TimeOnly) }

func joinedTexts(texts []api.Text) string {
	return strings.Join(asStrings(texts), ", ")
}
