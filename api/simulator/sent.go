package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

// keptDeliveries bounds the log of deliveries.
const keptDeliveries = 1000

// Deliveries returns the log of the newest deliveries, with their answers.
func (s *Simulator) Deliveries() *deliveries.Log { return s.webhooks.sent }

// Redeliver makes a delivery now, whether it waits for its next attempt, was given up or
// lost, or was delivered already.
func (s *Simulator) Redeliver(id api.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.webhooks.redeliver(id)
}

// redeliver is [Simulator.Redeliver]. The caller holds the lock.
func (w *webhooks) redeliver(id api.ID) error {
	d, ok := w.sent.Find(id)
	if !ok {
		return fmt.Errorf("delivery %s is no longer kept", id)
	}
	of, number, _ := strings.Cut(string(id), deliveryNumber)
	at := w.endpoint(of)
	ev, known := w.events.find(string(d.Event))
	switch {
	case at < 0:
		return errors.New("its endpoint is no longer registered")
	case d.Type == api.VerificationChallenge:
		return errors.New("a challenge is sent until it is answered: register the endpoint again for another one")
	case d.State == deliveries.Sending:
		return errors.New("an attempt is under way")
	case !known:
		return errors.New("the stand-in does not know its event")
	}
	again := delivery{event: ev, sent: *d}
	again.number, _ = strconv.ParseUint(number, 10, 64)
	e := w.endpoints[at]
	e.again = append(e.again, again)
	e.wake()
	return nil
}

// endpointOf returns the id of the endpoint in the id of a delivery.
func endpointOf(delivery api.ID) string {
	of, _, _ := strings.Cut(string(delivery), deliveryNumber)
	return of
}

// deliveryNumber separates the endpoint from the number in a delivery's id.
const deliveryNumber = "-d"

// sendAgain makes the requested deliveries due now. One that is planned or in flight is not sent twice: the request
// may have come before the log knew of its attempt.
func (e *endpoint) sendAgain(now time.Time, inFlight map[uint64]bool) {
	e.webhooks.mu.Lock()
	again := e.again
	e.again = nil
	e.webhooks.mu.Unlock()
	for _, d := range again {
		planned := inFlight[d.number]
		e.due.hurry(now, func(other delivery) bool {
			planned = planned || other.number == d.number
			return other.number == d.number
		})
		if !planned {
			e.due.plan(now, d)
		}
	}
}

// begin puts an attempt into the log. The caller must not change the header and the body
// afterwards.
func (e *endpoint) begin(d *delivery, header http.Header, body []byte) {
	if d.sent.ID == "" {
		d.sent = e.unsent(d.event, d.number)
	}
	s := &d.sent
	s.State, s.Attempts, s.Sent, s.Next = deliveries.Sending, s.Attempts+1, time.Now(), time.Time{}
	s.Request = deliveries.Message{Header: header, Body: body}
	s.Answer, s.Status, s.Took, s.Error = deliveries.Message{}, 0, 0, ""
	e.webhooks.sent.Put(*s)
}

// unsent returns a delivery before its first attempt.
func (e *endpoint) unsent(ev event, number uint64) deliveries.Delivery {
	id := e.summary.ID + deliveryNumber + strconv.FormatUint(number, 10)
	return deliveries.Delivery{
		ID: api.ScrubID(id), Target: api.MaskAddress(api.Scrub(e.summary.URL)),
		Event: api.ScrubID(ev.id()), Type: ev.kind, Source: api.ScrubID(ev.source), Since: time.Now(),
	}
}

// answer stores the answer to an attempt.
func (e *endpoint) answer(d *delivery, resp *http.Response, body []byte) {
	kept := e.withoutSecrets(string(body))
	d.sent.Status = resp.StatusCode
	d.sent.Answer = deliveries.Message{Header: resp.Header, Body: []byte(kept[:min(len(kept), deliveries.KeptAnswer)])}
}

// end puts the outcome of an attempt into the log; next is when the next attempt is due,
// zero if there is none.
func (e *endpoint) end(d *delivery, err error, next time.Time) {
	s := &d.sent
	s.State, s.Next = deliveries.Delivered, next
	if err != nil {
		s.State, s.Error = deliveries.Dead, api.Scrub(err.Error())
	}
	if !next.IsZero() {
		s.State = deliveries.Waiting
	}
	e.webhooks.sent.Put(*s)
}

// abandon marks the deliveries that still had attempts left as dead.
func (e *endpoint) abandon() {
	for e.due.len() > 0 {
		if d := e.due.pop().what; d.sent.ID != "" {
			e.end(&d, errors.New("the endpoint was registered again"), time.Time{})
		}
	}
}

// lose puts an event into the log that a fault keeps from being sent.
func (e *endpoint) lose(ev event) {
	e.planned++
	d := e.unsent(ev, e.planned)
	d.State = deliveries.Lost
	e.webhooks.sent.Put(d)
}
