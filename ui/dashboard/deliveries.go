package dashboard

import (
	"context"
	"fmt"
	"net/http"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// noDeliveries is why a dashboard has no deliveries.
const noDeliveries = "there are no deliveries here: watch --forward-to and demo show some"

// deliveries shows deliveries, and repeats them.
type deliveries struct {
	*shared
	details *details
	begun   bool
	held    []*delivery.Delivery // changed while the screen was frozen
	asked   delivery.Delivery    // the delivery last repeated from here, as it was; zero once its result was shown
}

// deliveriesMsg brings changed deliveries.
type deliveriesMsg []*delivery.Delivery

// notSentAgainMsg says why a delivery was not repeated.
type notSentAgainMsg struct{ err error }

// update applies changes, or holds them while the screen is frozen.
func (d *deliveries) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case deliveriesMsg:
		d.reportAgain(msg)
		d.held = append(d.held, msg...)
		if most := 2 * keptEvents; len(d.held) > most {
			d.held = d.held[len(d.held)-most:]
		}
		if d.picture.frozen == nil {
			d.show()
		}
	case notSentAgainMsg:
		d.asked = delivery.Delivery{}
		d.notices.say(warning, "not sent again: "+msg.err.Error())
	}
}

// reportAgain reports the result of a repetition: a filter may hide its row.
func (d *deliveries) reportAgain(changed []*delivery.Delivery) {
	for _, of := range changed {
		if of.ID != d.asked.ID || of.State == delivery.Sending || of.Attempts <= d.asked.Attempts {
			continue
		}
		kind, text := warning, string(of.Event)+" was sent again, but not accepted: "+string(of.Error)
		switch {
		case of.Status == http.StatusOK:
			kind, text = success, string(of.Event)+" was sent again, and accepted"
		case of.Status > 0:
			text = fmt.Sprintf("%s was sent again, but not accepted: the answer was %d", of.Event, of.Status)
		}
		d.notices.say(kind, text)
		d.asked = delivery.Delivery{}
	}
}

// show puts changes on the screen.
func (d *deliveries) show() {
	if len(d.held) == 0 {
		return
	}
	p := d.board.deliveries
	p.ApplyDeliveries(d.held, !d.begun)
	d.begun, d.held = true, nil
	if n := p.Troubled(); n != d.board.look.Tabs.Troubled {
		d.board.look.Tabs.Troubled = n
		d.board.panes[d.board.tab].Invalidate()
	}
	d.details.refresh()
}

// again repeats the delivery under the cursor, where the cursor stays.
func (d *deliveries) again(ctx context.Context) tea.Cmd {
	of, ok := d.board.deliveries.Find(d.board.subject().ID)
	if !ok {
		return nil
	}
	d.asked = *of
	d.notices.say(plain, "sending "+string(of.Event)+" again, to "+pane.Shown(of.Target))
	return func() tea.Msg {
		if err := d.cfg.SendAgain(ctx, of.ID); err != nil && ctx.Err() == nil {
			return notSentAgainMsg{err}
		}
		return nil
	}
}

// disabled says why the delivery cannot be repeated.
func (d *deliveries) disabled() string {
	switch s := d.board.subject(); {
	case d.cfg.Deliveries == nil:
		return noDeliveries
	case s.Kind != pane.OfDelivery:
		return "no delivery under the cursor"
	default:
		of, ok := d.board.deliveries.Find(s.ID)
		if !ok {
			return "this delivery is no longer kept"
		}
		if of.State == delivery.Sending {
			return "an attempt is running: wait for its answer"
		}
	}
	return ""
}

// deliveriesDisabled says that there are no deliveries; "" if there are.
func (b *board) deliveriesDisabled() string {
	if !b.delivers(layout.Deliveries) {
		return noDeliveries
	}
	return ""
}

// delivers reports whether this board has the pane.
func (b *board) delivers(at layout.Pane) bool {
	return at != layout.Deliveries || b.cfg.Deliveries != nil
}

// pumpDeliveries sends changes, batched per frame, until ctx ends.
func pumpDeliveries(ctx context.Context, source *delivery.Log, send func(deliveriesMsg)) {
	for since := uint64(0); ; {
		changed, now := source.Since(since)
		if since = now; len(changed) > 0 {
			send(changed)
		}
		if api.Sleep(ctx, frame) != nil || source.Wait(ctx, since) != nil {
			return
		}
	}
}
