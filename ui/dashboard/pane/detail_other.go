package pane

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

func (p *Detail) shipment() {
	s := p.facts.Shipment
	row := newShipmentRow(s, p.look.Now)
	carrier, number := row.tracking()
	p.headline(sign.Shipment(s.Status()), string(s.Product), p.look.age(row.touched))
	p.fact("carrier", paint.Text, carrier)
	if number == "" && !s.Status().Terminal() {
		p.fact("tracking", paint.Muted, "none yet")
	}
	p.fact("tracking", paint.Text, number)
	if s.Latest == nil {
		return
	}
	in := s.Latest
	if in.Tracking != nil {
		p.address("tracked at", in.Tracking.URL)
		p.estimate(s)
	}
	p.fact("read", paint.Text, p.look.age(s.ReadAt)+" ago")
	p.fact("created", paint.Text, p.moment(in.CreatedAt))
	p.fact("shipped", paint.Text, p.moment(in.ShippedAt))
	p.fact("delivered", paint.Text, p.moment(in.DeliveredAt))
	p.fact("intent", paint.Text, string(s.IntentID))
	p.fact("order", paint.Text, string(in.MarketplaceOrderID))
	p.fact("external id", paint.Text, string(in.ExternalID))
	p.scans(in.TrackingEvents)
	p.raw(in.Raw)
}

// estimate adds the estimated delivery, and how late the parcel is.
func (p *Detail) estimate(s *account.Shipment) {
	style, day := paint.Text, p.look.estimated(s.Latest.Tracking.Estimated)
	if late := wording.Late(s.Late(p.look.Now)); late != "" {
		style, day = paint.Warning, day+", "+late
	}
	p.fact("estimate", style, day)
}

func (p *Detail) scans(events []api.TrackingEvent) {
	if len(events) == 0 {
		return
	}
	p.heading("TRACKING")
	stamp := 0
	for _, e := range events {
		if !e.At.IsZero() {
			stamp = max(stamp, len(p.look.stamp(e.At)))
		}
	}
	for _, e := range events {
		m := sign.Shipment(e.Status)
		place := join(e.City, e.Province, e.Country)
		at, text := "", string(e.Description)
		if !e.At.IsZero() {
			at = p.look.stamp(e.At)
		}
		if text == "" {
			text = m.Word
		}
		p.scan(at, m, text, place, stamp)
	}
}

// scan adds a scan of a parcel, with its place beside it or, if there is no room, below.
func (p *Detail) scan(at string, m sign.Sign, text, place string, stamp int) {
	const gap = 2
	room := p.w - 2 - stamp - 4
	beside := place != "" && paint.Width(text)+gap+paint.Width(place) < room
	for i, part := range paint.Wrap(text, room) {
		p.add(func(l *paint.Line) {
			if i > 0 {
				l.Space(stamp+4).Put(paint.Text, part)
				return
			}
			l.Fit(paint.Muted, at, stamp+2).Put(m.Style, m.Glyph).Space(1).Put(paint.Text, part)
			if beside {
				l.Space(gap).Put(paint.Muted, place)
			}
		})
	}
	if place != "" && !beside {
		p.add(func(l *paint.Line) { l.Space(stamp+4).Put(paint.Muted, place) })
	}
}

func (p *Detail) event() {
	e := p.facts.Event
	p.headline(sign.Outcome(e), string(e.Product), p.look.age(e.Received))
	p.fact("type", paint.Text, string(api.Scrub(string(e.Type))))
	p.fact("source", paint.Text, wording.Name(string(e.SourceType)))
	p.fact("source id", paint.Text, string(e.SourceID))
	p.fact("created", paint.Text, p.moment(e.CreatedAt))
	p.fact("received", paint.Text, p.moment(e.Received))
	p.fact("origin", paint.Text, string(api.Scrub(e.Origin)))
	if e.Seq > 0 {
		p.fact("sequence", paint.Text, strconv.FormatInt(e.Seq, 10))
	}
	if e.Duplicates > 0 {
		p.fact("duplicate", paint.Warning, "the relay received it "+wording.Count(e.Duplicates+1)+" times; it counts once")
	}
	if e.Late {
		p.fact("late", paint.Warning, "an event created later arrived first")
	}
	if in := p.facts.Intent; in != nil {
		p.heading("ITS INTENT NOW")
		m := sign.Intent(in.State)
		p.add(func(l *paint.Line) {
			l.Put(m.Style, m.Glyph+" "+m.Word).Space(2).Put(paint.Text, string(in.Product))
		})
		p.timeline(in.Timeline)
	}
	if len(e.Raw) == 0 {
		p.heading("RAW")
		p.paragraph(paint.Muted, "not kept here: get it from the relay with tillwatch events ID --raw > body.json")
		return
	}
	p.raw(e.Raw)
}

func (p *Detail) request() {
	r := p.facts.Request
	m := sign.Answer(r.Status)
	p.headline(m, r.Method+" "+r.Path, p.look.age(r.Sent))
	p.fact("sent", paint.Text, p.moment(r.Sent))
	if r.Status > 0 {
		p.fact("answered", paint.Text, "in "+Latency(r.Latency))
	} else {
		p.fact("answered", paint.Bad, "no answer within "+Latency(r.Latency))
	}
	p.fact("path", paint.Text, r.Path)
	p.fact("bucket", paint.Text, string(r.Class))
	p.fact("sent by", paint.Text, spender(r))
	if r.Waited >= time.Millisecond {
		p.fact("waited", paint.Text, Latency(r.Waited)+" for quota")
	}
	if r.Attempt > 1 {
		p.fact("attempt", paint.Warning, strconv.Itoa(r.Attempt))
	}
	p.fact("request id", paint.Text, string(r.RequestID))
	p.fact("error", paint.Bad, wording.Because(r.Err))
}

// tree caches the nodes of a body.
type tree struct {
	body     []byte
	revealed bool
	nodes    []node
}

func (t *tree) of(body []byte, revealed bool) []node {
	if len(t.body) != len(body) || len(body) > 0 && &t.body[0] != &body[0] || t.revealed != revealed {
		*t = tree{body, revealed, treeOf(body, revealed)}
	}
	return t.nodes
}

// raw shows a body as indented lines. It masks tokens and, unless revealed, personal data.
func (p *Detail) raw(body []byte) {
	if len(body) == 0 {
		return
	}
	nodes := p.tree.of(body, p.revealed)
	if len(nodes) == 0 {
		return
	}
	if p.revealed {
		p.heading("RAW · personal data shown, tokens masked")
	} else {
		p.heading("RAW · masked")
	}
	for i := range nodes[1:] { // the first is the root
		n := &nodes[i+1]
		line := p.add(n.draw)
		line.text = n.key + n.value
		if !n.branch && !strings.Contains(n.value, "[masked]") {
			line.value, line.private = leaf(n.value), p.revealed
		}
	}
	if len(nodes) >= mostNodes {
		p.paragraph(paint.Muted, "… the rest is not shown")
	}
}

// leaf returns a JSON value without quotes.
func leaf(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return string(api.Scrub(text))
	}
	return value
}

func (n *node) draw(l *paint.Line) {
	l.Space(2 * (n.depth - 1))
	switch {
	case !n.branch:
		l.Put(paint.Muted, n.key)
		style := paint.Text
		if n.value == `"[masked]"` {
			style = paint.Muted
		}
		l.Put(style, n.value)
	case n.size == 0:
		l.Put(paint.Muted, n.key+n.value+n.end)
	default:
		l.Put(paint.Muted, strings.TrimSuffix(n.key, ": "))
		if n.value == "[" {
			l.Put(paint.Muted, " "+strconv.Itoa(n.size))
		}
	}
}
