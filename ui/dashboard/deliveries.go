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

// noDeliveries is why a dashboard shows none.
const noDeliveries = "there are no deliveries here: watch --forward-to, demo and simulate --ui show some"

// deliveries shows what was delivered, and sends it again.
type deliveries struct {
	cfg     *Config
	board   *board
	picture *picture
	details *details
	notices *notices
	begun   bool
	held    []*delivery.Delivery // that changed while the screen was frozen
	asked   delivery.Delivery    // the last one that was sent again from here, as it was; zero once it is told what came of it
}

// deliveriesMsg brings those that changed.
type deliveriesMsg []*delivery.Delivery

// sentAgainMsg says that a delivery was not sent again, and why.
type sentAgainMsg struct{ err error }

// update takes over what changed, or keeps it while the screen is frozen.
func (d *deliveries) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case deliveriesMsg:
		d.tell(msg)
		d.held = append(d.held, msg...)
		if most := 2 * keptEvents; len(d.held) > most {
			d.held = d.held[len(d.held)-most:]
		}
		if d.picture.frozen == nil {
			d.show()
		}
	case sentAgainMsg:
		d.asked = delivery.Delivery{}
		d.notices.say(warning, "not sent again: "+msg.err.Error())
	}
}

// tell says what came of sending again: the row may be out of the filter by then.
func (d *deliveries) tell(changed []*delivery.Delivery) {
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

// show puts what changed on the screen.
func (d *deliveries) show() {
	if len(d.held) == 0 {
		return
	}
	p := d.board.deliveries
	p.Take(d.held, !d.begun)
	d.begun, d.held = true, nil
	if n := p.Troubled(); n != d.board.look.Tabs.Troubled {
		d.board.look.Tabs.Troubled = n
		d.board.panes[d.board.tab].Invalidate()
	}
	d.details.feed()
}

// again sends what the cursor is on once more. The cursor stays there, whatever comes.
func (d *deliveries) again(ctx context.Context) tea.Cmd {
	of, ok := d.board.deliveries.Find(d.board.subject().ID)
	if !ok {
		return nil
	}
	d.board.deliveries.Hold(of.ID)
	d.asked = *of
	d.notices.say(plain, "sending "+string(of.Event)+" again, to "+pane.Shown(of.Target))
	return func() tea.Msg {
		if err := d.cfg.SendAgain(ctx, of.ID); err != nil && ctx.Err() == nil {
			return sentAgainMsg{err}
		}
		return nil
	}
}

// disabled says why nothing can be sent again.
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

// delivers reports whether a pane is one of those that this board has.
func (b *board) delivers(at layout.Pane) bool {
	return at != layout.Deliveries || b.cfg.Deliveries != nil
}

// pumpDeliveries sends what changes, gathered for a frame, until ctx ends.
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
