package dashboard

import (
	"tillwatch/api"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// details opens, feeds and closes the detail.
type details struct{ *shared }

// open opens the detail of a subject.
func (d *details) open(s pane.Subject) {
	d.board.rememberFocus()
	d.board.detail.Open(s)
	d.board.detailOpen = true
	d.refresh()
	d.board.setFocus(layout.Detail)
}

// step moves the cursor, and an open detail with it.
func (d *details) step(s pane.Step) {
	if d.board.step(s) {
		d.follow()
	}
}

// follow turns an open detail to the board's cursor.
func (d *details) follow() {
	if d.board.detailOpen && d.board.focus != layout.Detail {
		if s := d.board.subject(); s.Kind != pane.None && s != d.board.detail.Subject() {
			d.board.detail.Open(s)
			d.board.rememberFocus()
		}
	}
	d.refresh()
}

// close closes the detail, and ends any zoom.
func (d *details) close() {
	b := d.board
	b.detailOpen = false
	b.zoom = b.zoom && b.zoomed != layout.Detail
	b.look.Opened = pane.Subject{}
	b.setFocus(b.before)
	b.invalidate()
}

// refresh gives the detail what is known of its subject, except while the screen is
// frozen.
func (d *details) refresh() {
	if !d.board.detailOpen {
		return
	}
	s := d.board.detail.Subject()
	if d.board.look.Opened != s {
		d.board.look.Opened = s
		d.board.invalidate()
	}
	if d.picture.frozen != nil && d.board.detail.HasFacts() {
		return
	}
	var facts pane.Facts
	switch s.Kind {
	case pane.OfEvent:
		facts.Event, _ = d.board.events.Find(s.ID)
	case pane.OfRequest:
		facts.Request, _ = d.board.requests.Find(s.ID)
	case pane.OfOrder:
		facts.Order = d.picture.order(s.Reference)
	case pane.OfShipment:
		facts.Shipment = d.picture.shipments[s.ID]
	}
	if in, ok := d.board.intentOf(s); ok {
		facts.Intent, _ = d.cfg.Source.Intent(in.ID)
		facts.Shipments = d.picture.shipmentsOf(in.ID)
		facts.Confirm, facts.Settled = d.picture.confirmOf(in.ID), d.settled(in.ID)
	}
	d.board.detail.SetFacts(facts)
}

// settled says what happens next with a confirm of unknown outcome, and what to do; "" where there is none.
func (d *details) settled(id api.ID) string {
	now := d.cfg.Now()
	c := d.picture.confirmOf(id)
	if c == nil || !c.Unknown(now) {
		return ""
	}
	text := "do not buy it again, here or anywhere else; "
	switch by := settledBy(c); {
	case c.Agreed:
		return text + "the service said yes, so it stays unknown until the intent moves on or expires"
	case string(c.Where) != "" && string(c.Where) != d.picture.environment().Name:
		return text + "it was sent to " + string(c.Where) + ": a run with --allow-confirm there settles it by reading"
	case !d.cfg.Armed:
		return text + "this run is read-only: one with --allow-confirm settles it by reading, or look at the intent at the service"
	case now.Before(by):
		return text + "reads settle it at once if the order is placed, else by " + by.In(d.cfg.Location).Format("15:04:05")
	}
	return text + "no read has settled it so far, and they go on; until one does, only the service can tell: look at the intent there"
}

// reveal shows or hides personal data in the detail.
func (d *details) reveal() {
	d.board.detail.Reveal(!d.board.detail.Revealed())
	if d.board.detail.Revealed() {
		d.notices.sayWhile(d.board.detail.Revealed, warning, "personal data is shown until you leave the detail; payment tokens stay hidden")
	} else {
		d.notices.say(plain, "personal data is hidden")
	}
}

// copied is the text to copy: the value under the detail's cursor, or the id of the
// row; "" for none.
func (d *details) copied() copying {
	if d.board.focus == layout.Detail {
		switch value, private := d.board.detail.Value(); {
		case private:
			return copying{text: value, kind: plain, after: " the value of this line"}
		case value != "":
			return copying{text: value, kind: plain, after: " " + value}
		}
	}
	s := d.board.subject()
	id := s.Name()
	if s.Kind == pane.OfRequest {
		r, ok := d.board.requests.Find(s.ID)
		if !ok || r.RequestID == "" {
			d.notices.say(warning, "the service gave this request no id")
			return copying{}
		}
		id = string(r.RequestID)
	}
	return copying{text: id, kind: plain, after: " " + id}
}
