package pane

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// deliverySheet is a detail whose subject is a delivery.
type deliverySheet struct{ *Detail }

// draw shows the answer and the request of the last attempt.
func (p deliverySheet) draw() {
	d := p.facts.Delivery
	p.headline(sign.Delivery(d.State), string(api.Scrub(string(d.Type))), p.look.age(d.Since))
	p.fact("target", paint.Text, string(d.Target))
	p.fact("event", paint.Text, string(d.Event))
	p.fact("source", paint.Text, string(d.Source))
	if in := p.facts.Intent; in != nil {
		p.fact("product", paint.Text, string(in.Product))
	}
	p.attempts(d)
	if d.State != delivery.Sending {
		p.paragraph(paint.Muted, p.look.Keys.SendAgain+" sends it again")
	}
	if d.Answer.Header != nil || len(d.Answer.Body) > 0 {
		p.heading("ANSWER " + strconv.Itoa(d.Status) + " " + http.StatusText(d.Status))
		p.headers(d.Answer.Header)
		p.text(d.Answer.Body)
	}
	if d.Request.Header != nil || len(d.Request.Body) > 0 {
		p.heading("REQUEST")
		p.headers(d.Request.Header)
		p.raw(d.Request.Body)
	}
}

// attempts shows the outcome of the last attempt and the time of the next.
func (p deliverySheet) attempts(d *delivery.Delivery) {
	switch {
	case d.State == delivery.Lost && d.Attempts == 0:
		p.fact("attempts", paint.Warning, "none: a fault of the stand-in lost it")
		return
	case d.Attempts == 0:
		p.fact("attempts", paint.Text, "none yet")
		return
	}
	p.fact("attempts", paint.Text, wording.Count(d.Attempts))
	p.fact("last", paint.Text, p.moment(d.Sent))
	answer, style := lastAnswer(d)
	switch {
	case d.State == delivery.Sending:
		p.fact("answer", style, "awaited")
	case d.Status > 0:
		p.fact("answer", style, answer+" in "+Latency(d.Took))
	default:
		p.fact("answer", style, answer+" within "+Latency(d.Took))
	}
	p.fact("error", paint.Bad, string(d.Error))
	if !d.Next.IsZero() {
		p.fact("next", paint.Warning, wording.Until(d.Next.Sub(p.look.Now)))
	}
}

// headers adds the fields of a header, sorted by name.
func (p deliverySheet) headers(h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := strings.Join(h[name], ", ")
		if heldBack(name) {
			value = delivery.Hidden
		}
		p.field(string(api.Scrub(name)), string(api.Scrub(value)))
	}
}

// field adds one field of a header. It wraps a wide value.
func (p deliverySheet) field(name, value string) {
	const indent = 2
	for i, part := range paint.Wrap(name+": "+value, p.w-3-indent) {
		p.add(func(l *paint.Line) {
			label, rest, ok := strings.Cut(part, ": ")
			switch {
			case i == 0 && ok:
				l.Put(paint.Muted, label+": ").Put(paint.Text, rest)
			case i == 0:
				l.Put(paint.Muted, part)
			default:
				l.Space(indent).Put(paint.Text, part)
			}
		}).value = value
	}
}

// text adds the body of an answer line by line, masked if it is JSON.
func (p deliverySheet) text(body []byte) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		p.paragraph(paint.Muted, "no body")
		return
	}
	if json.Valid(body) {
		body = api.Masked(body)
	}
	p.blank()
	for line := range bytes.Lines(body) {
		p.paragraph(paint.Text, string(api.Scrub(string(bytes.TrimRight(line, "\r\n")))))
	}
}

// heldBack reports whether the value of a header must not be shown.
func heldBack(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}, name) ||
		api.SecretField(name) && !strings.HasSuffix(name, "-Signature")
}
