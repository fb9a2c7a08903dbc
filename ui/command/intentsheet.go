package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

// Widths of a sheet, in cells.
const (
	sheetWidth = 80
	sheetLabel = 12
)

// sheet is the intent for people.
func (l *intentLine) sheet() string {
	s, in, latest, now := &sheetWriter{}, l.Intent, l.latest(), l.MadeAt
	name := cmp.Or(string(in.Product), string(in.ID))
	if in.Quantity > 1 {
		name = fmt.Sprintf("%d × %s", in.Quantity, name)
	}
	s.apart(name, sign.Intent(in.State).String())
	s.row("intent", string(in.ID))
	s.row("environment", environmentText(l.Environment, l.Live))
	s.row("known", knownText(in, now))
	s.row("merchant", string(in.Merchant))
	s.row("state", wording.Name(string(in.State))+l.standing())
	s.row("created", stamp(in.CreatedAt, now))
	if in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero() {
		s.row("confirm by", confirmBy(in.ExpiresAt, l.service))
	}
	if f := latest.Failure; f != nil {
		s.row("failed", wording.Name(string(f.Code)))
		s.row("", string(l.message()))
		s.row("", l.Failure.Advice)
	}
	s.money(in)
	for _, v := range latest.Variants {
		s.row(strings.ToLower(string(v.Label)), string(v.Value))
	}
	s.row("url", string(l.address(latest.ProductURL)))
	s.row("reference", string(in.ReferenceID))
	s.row("order ids", joinedTexts(latest.OrderIDs))
	if latest.Payment != nil {
		s.row("payment", wording.Name(string(latest.Payment.Type)))
	}
	s.buyer(latest.Buyer, l.Personal)
	s.shipments(l.Shipments, now)
	s.timeline(in.Timeline, now)
	return s.String()
}

func environmentText(name string, live bool) string {
	if live {
		name += ", live: real money"
	}
	return name
}

func knownText(in *account.IntentDetail, now time.Time) string {
	switch {
	case in.Missing:
		return "the service answered 404 to the last read"
	case in.Certainty == account.Verified:
		return "read " + ago(now, in.ReadAt)
	case in.Certainty == account.Reported:
		return "not read: an event reported this state"
	}
	return "its state is not known yet"
}

func (l *intentLine) standing() string {
	since := l.Intent.Entered()
	if since.IsZero() {
		return ""
	}
	text := " since " + stamp(since, l.MadeAt)
	if l.Intent.Found {
		text += " or before"
	}
	if l.Slow {
		text += ", slower than usual here"
	}
	return text
}

// confirmBy is when a confirm window closes; now is by the service's clock, as end.
func confirmBy(end, now time.Time) string {
	text := stamp(end, now)
	left := end.Sub(now)
	if left <= 0 {
		return text + ", which is over"
	}
	return text + ", in " + wording.Age(left)
}

func (s *sheetWriter) money(in *account.IntentDetail) {
	if in.Total == nil {
		return
	}
	text := in.Total.String()
	if in.Latest == nil || in.Latest.Offer == nil {
		s.row("total", text)
		return
	}
	var parts []string
	for _, part := range in.Latest.Offer.Cost.Parts() {
		if part.Amount != nil {
			parts = append(parts, strings.ToLower(part.Name)+" "+part.Amount.Amount())
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	s.row("total", text)
	s.row("promo codes", joinedTexts(in.Latest.Offer.AppliedPromoCodes))
}

func (s *sheetWriter) buyer(b *api.Buyer, shown bool) {
	switch {
	case b == nil:
	case shown:
		s.row("buyer", strings.TrimSpace(string(b.FirstName)+" "+string(b.LastName)))
		s.row("email", string(b.Email))
		s.row("phone", string(b.Phone))
		s.row("address", joinedTexts(addressLines(b)))
	default:
		s.row("buyer", "masked: --reveal shows it")
	}
}

// addressLines are the parts of a buyer's address that are set.
func addressLines(b *api.Buyer) []api.Text {
	all := []api.Text{b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country}
	return slices.DeleteFunc(all, func(line api.Text) bool { return line == "" })
}

func (s *sheetWriter) shipments(all []*account.Shipment, now time.Time) {
	if len(all) == 0 {
		return
	}
	s.line("", "SHIPMENTS")
	for _, sh := range all {
		latest, tracking := shipmentParts(sh)
		text := sign.Shipment(latest.Status).String()
		if number := strings.TrimSpace(string(tracking.Carrier) + " " + string(tracking.Number)); number != "" {
			text += "  " + number
		}
		switch {
		case !latest.DeliveredAt.IsZero():
			text += "  delivered " + stamp(latest.DeliveredAt, now)
		case !tracking.Estimated.IsZero():
			text += "  expected " + account.Estimate(tracking.Estimated, time.Local).Format("Jan 2")
			if late := wording.Late(sh.Late(now.Local())); late != "" {
				text += ", " + late
			}
		}
		s.row("", text)
		s.row("", string(sh.ID))
	}
}

// shipmentParts are the newest answer of a shipment and its tracking; empty if unknown.
func shipmentParts(sh *account.Shipment) (latest api.Shipment, tracking api.Tracking) {
	if sh.Latest != nil {
		latest = *sh.Latest
	}
	if latest.Tracking != nil {
		tracking = *latest.Tracking
	}
	return latest, tracking
}

func (s *sheetWriter) timeline(all []*account.Moment, now time.Time) {
	if len(all) == 0 {
		return
	}
	s.line("", "TIMELINE")
	width := 0
	for _, m := range all {
		width = max(width, len(stamp(m.When, now)))
	}
	for _, m := range all {
		s.wrapped(fmt.Sprintf("%-*s  ", width, stamp(m.When, now)), timeline.Sentence(m)+" ("+m.By().String()+")")
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
	for i, part := range strings.Split(atSpaces(text, sheetWidth-width), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", width)
		}
		s.line(head + part)
	}
}

// stamp is a local time, with its date unless that is today; "" if it is not known.
func stamp(t, now time.Time) string {
	if t.IsZero() {
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
