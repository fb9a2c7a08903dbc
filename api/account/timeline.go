package account

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// keepReads bounds the reads of a timeline that changed something, and what timers
// found. Beyond it the oldest but the first moment are given up. Events and
// confirms stay, up to mostMoments of anything.
const (
	keepReads   = 200
	mostMoments = 2000
)

// timeline lists what was remembered, oldest first.
func (s *Store) timeline(r *intentRecord) []Moment {
	line := make([]Moment, r.moments)
	at := r.line
	for i := len(line) - 1; i >= 0; i-- {
		kept := s.moments.at(at)
		m := kept.moment()
		line[i] = s.spell(r, &m)
		at = kept.earlier
	}
	return line
}

// rememberOnce is remember for an event that may stand in the timeline already.
func (s *Store) rememberOnce(r *intentRecord, id api.ID, m moment) {
	if s.remembers(r, id) {
		s.giveUpID(&m)
		return
	}
	s.remember(r, m)
}

// remembers reports whether the timeline holds an event.
func (s *Store) remembers(r *intentRecord, id api.ID) bool {
	for at := r.line; at != 0; {
		kept := s.moments.at(at)
		if m := kept.moment(); m.kind.how() == ByEvent && s.isEvent(r, &m, id) {
			return true
		}
		at = kept.earlier
	}
	return false
}

// remember puts a moment into its place in the timeline: by when it happened, of
// equal moments the earlier state first, and else as they became known.
func (s *Store) remember(r *intentRecord, m moment) {
	number, kept := s.freeMoment()
	kept.put(&m)
	link := &r.line
	if !m.isAfter(r.lineBy) {
		link = s.placeOf(r, kept)
	}
	kept.earlier, *link = *link, number
	if r.line == number {
		r.lineBy = m.overBy()
	}
	r.moments++
	if m.kind.mayGo() {
		r.readMoments++
	}
	switch {
	case r.readMoments > keepReads:
		s.forgetRead(r)
	case r.moments > mostMoments:
		s.forgetOldest(r, mostMoments/8)
	}
}

// placeOf is the link at which a moment belongs.
func (s *Store) placeOf(r *intentRecord, kept *keptMoment) *uint32 {
	m, link := kept.moment(), &r.line
	for *link != 0 {
		before := s.moments.at(*link)
		if o := before.moment(); !s.precedes(&m, &o) {
			break
		}
		link = &before.earlier
	}
	return link
}

// foldRead counts a read that changed nothing, in one moment with those around it.
func (s *Store) foldRead(r *intentRecord, at, learnt instant) {
	if r.line != 0 {
		kept := s.moments.at(r.line)
		if m := kept.moment(); m.kind.how() == ByRead && m.kind&folded != 0 && m.what < mostWhat {
			m.what++
			m.at, m.learnt = max(m.at, at), max(m.learnt, learnt)
			kept.put(&m)
			r.lineBy = m.overBy()
			return
		}
	}
	s.remember(r, moment{at: at, learnt: learnt, kind: momentKind(ByRead) | folded, what: 1})
}

func (s *Store) precedes(m, o *moment) bool {
	if m.at != o.at {
		return m.at < o.at
	}
	mine, other := s.stateAt(m), s.stateAt(o)
	return mine != "" && other != "" && mine.Rank() < other.Rank()
}

// forgetRead gives up the oldest moment that may go, but not the first of all: it
// tells how it began.
func (s *Store) forgetRead(r *intentRecord) {
	var oldest *uint32
	link := &r.line
	for range r.moments - 1 {
		kept := s.moments.at(*link)
		if momentKind(kept.low).mayGo() {
			oldest = link
		}
		link = &kept.earlier
	}
	if oldest != nil {
		s.forgetMoment(r, oldest)
	}
}

// forgetOldest gives up so many of the oldest moments behind the first.
func (s *Store) forgetOldest(r *intentRecord, count uint16) {
	link := &r.line
	for range r.moments - count - 1 {
		link = &s.moments.at(*link).earlier
	}
	for range count {
		s.forgetMoment(r, link)
	}
}

func (s *Store) forgetMoment(r *intentRecord, link *uint32) {
	number := *link
	gone := s.moments.at(number)
	switch kind := momentKind(gone.low); {
	case kind.mayGo():
		r.readMoments--
	case kind.how() == ByEvent:
		m := gone.moment()
		s.events.known.add(s.eventID(r, &m))
		s.giveUpID(&m)
	}
	*link = gone.earlier
	gone.earlier, s.spare = s.spare, number
	r.moments--
	r.forgotten++
}

// wholeTimeline is the timeline as it is told: it says how much of it is gone.
func (s *Store) wholeTimeline(r *intentRecord) []Moment {
	line := s.timeline(r)
	if r.forgotten == 0 || len(line) == 0 {
		return line
	}
	first := line[0]
	gone := Moment{At: first.At, Learnt: first.Learnt, How: ByTimer, Text: "… " + counted(r.forgotten, "older entry is", "older entries are") + " no longer kept"}
	return slices.Insert(line, 1, gone)
}

func counted(n uint32, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(uint64(n), 10) + " " + many
}

// quietWords is what is said of reads that changed nothing.
func quietWords(n uint32) string { return quietStart + counted(n, "read", "reads") + ")" }

const quietStart = "unchanged ("

// readsFromWords is how many reads a moment stands for that was saved with its
// words, as they are or as they were in earlier versions.
func readsFromWords(text string) (n uint32, ok bool) {
	number, _, _ := strings.Cut(strings.TrimPrefix(text, quietStart), " ")
	count, err := strconv.ParseUint(number, 10, 24)
	n = uint32(count)
	earlier := counted(n, "read that changed nothing", "reads that changed nothing")
	return n, err == nil && n > 0 && (text == quietWords(n) || text == earlier)
}

// freeMoment is room for a moment.
func (s *Store) freeMoment() (uint32, *keptMoment) {
	if s.spare == 0 {
		return s.moments.add()
	}
	number := s.spare
	m := s.moments.at(number)
	s.spare = m.earlier
	return number, m
}

func eventWords(t api.EventType) string {
	switch t {
	case api.OfferRetrieved:
		return "offer retrieved"
	case api.OfferFailed:
		return "offer failed"
	case api.IntentCompleted:
		return "completed"
	case api.OrderFailed:
		return "order failed"
	}
	return unknownEvent + string(api.Scrub(string(t)))
}

const (
	unknownEvent   = "event of an unknown type: "
	shipmentPrefix = "shipment "
)

// shipmentWords are those of an event of one of the intent's shipments.
func shipmentWords(t api.EventType) string {
	switch t {
	case api.ShipmentCreated:
		return shipmentPrefix + "created"
	case api.ShipmentUpdated:
		return shipmentPrefix + "updated"
	}
	return shipmentPrefix + eventWords(t)
}

func shipmentTypeFromWords(text string) (t api.EventType, ok bool) {
	for _, t := range []api.EventType{api.ShipmentCreated, api.ShipmentUpdated} {
		if shipmentWords(t) == text {
			return t, true
		}
	}
	rest, ok := strings.CutPrefix(text, shipmentPrefix)
	return typeFromWords(rest), ok
}

const (
	alreadyWords = ", already "
	lateWords    = ", told late: already "
)

const (
	readWords    = "read: "
	confirmWords = "confirm accepted: "
)

// readDetail is what a read's words tell beside the state.
func readDetail(in *api.Intent) string {
	if in.Failure != nil && in.Failure.Code != "" {
		return words(string(in.Failure.Code))
	}
	if total, ok := in.Total(); ok {
		return total.String()
	}
	return ""
}

func stateWords(state api.IntentState) string {
	if state == "" {
		return "no state"
	}
	return words(string(state))
}

func words(code string) string {
	return strings.ReplaceAll(string(api.Scrub(code)), "_", " ")
}

// Stays is how long the intent was in each state that its timeline tells of, as
// far as it has left them.
func (i *IntentDetail) Stays() map[api.IntentState]time.Duration {
	stays := map[api.IntentState]time.Duration{}
	var state api.IntentState
	since := i.CreatedAt
	if !since.IsZero() {
		state = api.RetrievingOffer
	}
	for _, m := range i.Timeline {
		if m.State == "" || m.State == state || (m.State.Known() && m.State.Rank() < state.Rank()) {
			continue
		}
		if state != "" {
			stays[state] += max(0, m.At.Sub(since))
		}
		state, since = m.State, m.At
	}
	return stays
}
