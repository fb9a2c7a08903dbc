package account

import (
	"math"
	"strings"
	"time"

	"tillwatch/api"
)

// moment is an entry of a timeline. Its words are made when somebody asks.
type moment struct {
	at, learnt instant
	// what is a text: of an event what tells its id, of a read what it told beside
	// the state, of reads that changed nothing how many, of anything else its words.
	what uint32
	kind momentKind
	code uint8 // an event's type, of anything else the state
}

// keptMoment is a moment in 20 bytes without a pointer, because there may be
// millions: when it happened to the microsecond, and when it was learnt to the
// millisecond, or to the second where it took weeks.
type keptMoment struct {
	earlier      uint32 // the moment before it
	high, low    uint32 // microseconds since 1970, and in the lowest byte the kind
	whatAndCode  uint32
	learntBehind uint32
}

// overBy is the first full second since 1970 at which the moment is over; beyond
// what fits it is the last.
func (m *moment) overBy() uint32 {
	return uint32(min(max(int64(m.at)/int64(time.Second)+1, 0), math.MaxUint32))
}

// isAfter reports whether the moment is after one that was over by then, as far as
// that tells.
func (m *moment) isAfter(by uint32) bool {
	return by < math.MaxUint32 && int64(m.at)/int64(time.Second) >= int64(by)
}

const (
	behindSeconds = 1 << 31 // seconds, not milliseconds
	behindZero    = 1 << 29 // of milliseconds: clocks differ
	mostWhat      = 1<<24 - 1
)

func (k *keptMoment) put(m *moment) {
	at := uint64(int64(m.at)/int64(time.Microsecond))<<8 | uint64(m.kind)
	k.high, k.low = uint32(at>>32), uint32(at)
	if m.what > mostWhat {
		m.what = 0
	}
	k.whatAndCode = m.what<<8 | uint32(m.code)
	behind := int64(m.learnt-m.at) / int64(time.Millisecond)
	if from := behind + behindZero; from >= 0 && from < behindSeconds {
		k.learntBehind = uint32(from)
	} else {
		k.learntBehind = behindSeconds | uint32(min(max(behind/1000, 0), behindSeconds-1))
	}
}

func (k *keptMoment) moment() moment {
	at := int64(uint64(k.high)<<32|uint64(k.low)) >> 8
	m := moment{at: instant(at * int64(time.Microsecond)), kind: momentKind(k.low), what: k.whatAndCode >> 8, code: uint8(k.whatAndCode)}
	behind := time.Duration(int64(k.learntBehind)-behindZero) * time.Millisecond
	if k.learntBehind&behindSeconds != 0 {
		behind = time.Duration(k.learntBehind&^behindSeconds) * time.Second
	}
	m.learnt = (m.at + instant(behind)) / instant(time.Millisecond) * instant(time.Millisecond)
	return m
}

// momentKind is the way by which a moment was learnt, in its lowest two bits;
// whether its words are made from its parts; and of an event, in the four highest
// bits, which state was known when it told an older one: 0 for none, then two for
// each state of the contract, of which the second is for one that came late.
type momentKind uint8

const (
	spelled momentKind = 1 << 2 // words are made from the parts
	derived momentKind = 1 << 3 // an event's id is made from its source's
	folded  momentKind = 1 << 3 // reads that changed nothing: what is how many

	ofShipment momentKind = 15 << 4 // an event of one of the intent's shipments
)

// mayGo reports whether a moment may be given up where there are many.
func (k momentKind) mayGo() bool { return k.how() == ByRead || k.how() == ByTimer }

func (k momentKind) how() Learnt { return Learnt(k & 3) }

func (k momentKind) behind() (state api.IntentState, late bool) {
	if k >>= 4; k == 0 || k == ofShipment>>4 {
		return "", false
	}
	return api.IntentStates()[(k-1)/2], (k-1)%2 == 1
}

func behindKind(state api.IntentState, late bool) momentKind {
	for i, s := range api.IntentStates() {
		if s == state {
			k := momentKind(2*i + 1)
			if late {
				k++
			}
			return k << 4
		}
	}
	return 0
}

// eventMoment is the moment of an event of an intent.
func (s *Store) eventMoment(source, id api.ID, t api.EventType, at, learnt instant) moment {
	suffix, ok := suffixOf(id, source)
	return s.suffixedMoment(id, suffix, ok, t, at, learnt)
}

// suffixedMoment is the moment of an event of whose id it is known whether it is
// made of its intent's, and what that has behind it.
func (s *Store) suffixedMoment(id api.ID, suffix string, made bool, t api.EventType, at, learnt instant) moment {
	m := moment{at: at, learnt: learnt, kind: momentKind(ByEvent) | spelled, code: s.types.code(t)}
	switch {
	case !made:
		m.what = s.eventIDs.keep(id)
	case s.ends.isFull(suffix): // as they do not repeat
		m.what = s.eventIDs.keepOwned(itself, suffix)
	default:
		m.kind |= derived
		m.what = s.ends.number(suffix)
	}
	return m
}

// itself stands for the intent in whose timeline an id is, as its owner; other
// owners are shipments.
const itself = 0

// shipmentMoment is the moment of an event of one of an intent's shipments.
func (s *Store) shipmentMoment(r *intentRecord, id api.ID, t api.EventType, at, learnt instant) moment {
	owner, suffix := s.ownerOf(r, id)
	if owner == 0 {
		suffix, made := suffixOf(id, r.id)
		m := s.suffixedMoment(id, suffix, made, t, at, learnt)
		m.kind |= ofShipment
		return m
	}
	return moment{
		at: at, learnt: learnt, kind: momentKind(ByEvent) | spelled | ofShipment, code: s.types.code(t),
		what: s.eventIDs.keepOwned(owner, suffix),
	}
}

// ownerOf is the one of an intent's shipments of whose id an event's is made, and
// what that has behind it; 0 for none, and where it is made of the intent's own.
func (s *Store) ownerOf(r *intentRecord, id api.ID) (number uint32, suffix string) {
	if _, ok := suffixOf(id, r.id); ok {
		return 0, ""
	}
	number = r.parcel
	for looked := 0; number != 0 && looked < mostOwners; looked++ {
		sh := s.shipmentBlocks.at(number)
		if suffix, ok := suffixOf(id, sh.id); ok {
			return number, suffix
		}
		number = sh.sibling
	}
	return 0, ""
}

// mostOwners bounds of how many of an intent's shipments an event's id may be made.
const mostOwners = 16

// keptID is the id of a moment that has it kept.
func (s *Store) keptID(r *intentRecord, m *moment) api.ID {
	id, owner, owned := s.eventIDs.id(m.what)
	if owned {
		of := r.id
		if owner != itself {
			of = s.shipmentBlocks.at(owner).id
		}
		id = eventPrefix + string(of) + "_" + id
	}
	return api.ScrubID(id)
}

// giveUpID gives up the id of an event's moment that is kept no longer.
func (s *Store) giveUpID(m *moment) {
	if m.kind&derived == 0 {
		s.eventIDs.giveUp(m.what)
	}
}

const eventPrefix = "evt_"

// suffixOf is what an event's id has behind "evt_", its source's id and "_", in
// the form that the contract shows.
func suffixOf(id, source api.ID) (string, bool) {
	if len(id) <= len(eventPrefix)+len(source)+1 || id[:len(eventPrefix)] != eventPrefix {
		return "", false
	}
	rest := id[len(eventPrefix):]
	if rest[:len(source)] != source || rest[len(source)] != '_' {
		return "", false
	}
	return string(rest[len(source)+1:]), true
}

func (s *Store) eventID(r *intentRecord, m *moment) api.ID {
	if m.kind&derived != 0 {
		return api.ScrubID(eventPrefix + string(r.id) + "_" + s.ends.text(m.what))
	}
	return s.keptID(r, m)
}

// isEvent reports whether a moment is that of an event.
func (s *Store) isEvent(r *intentRecord, m *moment, id api.ID) bool {
	if m.kind&derived == 0 {
		return s.keptID(r, m) == id
	}
	suffix, ok := suffixOf(id, r.id)
	return ok && s.ends.text(m.what) == suffix
}

// toldMoment is the moment of a read or of what a confirm was answered.
func (s *Store) toldMoment(r *intentRecord, how Learnt, state api.IntentState, detail string, at, learnt instant) moment {
	m := moment{at: at, learnt: learnt, kind: momentKind(how) | spelled, code: s.states.code(state)}
	if m.code == 0 && state != "" {
		m.kind, m.what = momentKind(how), s.texts.number(toldWords(how, state, detail))
		return m
	}
	if detail == "" {
		return m
	}
	// The total is mostly the one of the read before.
	for at, looked := r.line, 0; at != 0 && looked < 4; looked++ {
		kept := s.moments.at(at)
		before := kept.moment()
		if before.kind.how() != ByEvent && before.kind&folded == 0 && s.texts.text(before.what) == detail {
			m.what = before.what
			return m
		}
		at = kept.earlier
	}
	m.what = s.texts.number(detail)
	return m
}

// saidMoment is a moment with words of its own.
func (s *Store) saidMoment(how Learnt, state api.IntentState, words string, at, learnt instant) moment {
	return moment{at: at, learnt: learnt, kind: momentKind(how), code: s.states.code(state), what: s.texts.number(words)}
}

func toldWords(how Learnt, state api.IntentState, detail string) string {
	text := readWords
	if how == ByConfirm {
		text = confirmWords
	}
	text += stateWords(state)
	if detail != "" {
		text += ", " + detail
	}
	return text
}

// stateAt is the state that a moment tells of; "" for none.
func (s *Store) stateAt(m *moment) api.IntentState {
	if m.kind.how() == ByEvent {
		state, _ := s.types.text(uint32(m.code)).ProvenState()
		return state
	}
	return s.states.text(uint32(m.code))
}

// spell makes the words of a moment.
func (s *Store) spell(r *intentRecord, m *moment) Moment {
	spelt := Moment{At: m.at.time(), Learnt: m.learnt.time(), How: m.kind.how(), State: s.stateAt(m)}
	switch {
	case spelt.How == ByRead && m.kind&folded != 0:
		spelt.Reads, spelt.Text = int(m.what), quietWords(m.what)
	case spelt.How == ByEvent && m.kind&ofShipment == ofShipment:
		spelt.EventID, spelt.Text = s.eventID(r, m), shipmentWords(s.types.text(uint32(m.code)))
	case spelt.How == ByEvent:
		spelt.EventID = s.eventID(r, m)
		spelt.Text = eventWords(s.types.text(uint32(m.code)))
		if state, late := m.kind.behind(); late {
			spelt.Text += lateWords + stateWords(state)
		} else if state != "" {
			spelt.Text += alreadyWords + stateWords(state)
		}
	case m.kind&spelled != 0:
		spelt.Text = toldWords(spelt.How, spelt.State, s.texts.text(m.what))
	default:
		spelt.Text = s.texts.text(m.what)
	}
	return spelt
}

// momentOf takes a moment apart again that was saved with its words.
func (s *Store) momentOf(r *intentRecord, saved Moment) moment {
	at, learnt := instantOf(saved.At), instantOf(saved.Learnt)
	switch saved.How {
	case ByEvent:
		if t, ok := shipmentTypeFromWords(saved.Text); ok {
			return s.shipmentMoment(r, saved.EventID, t, at, learnt)
		}
		text, state, late := cutBehind(saved.Text)
		suffix, made := suffixOf(saved.EventID, r.id)
		m := s.suffixedMoment(saved.EventID, suffix, made, typeFromWords(text), at, learnt)
		m.kind |= behindKind(state, late)
		return m
	case ByRead, ByConfirm:
		if n, ok := readsFromWords(saved.Text); ok && saved.How == ByRead {
			return moment{at: at, learnt: learnt, kind: momentKind(ByRead) | folded, what: n}
		}
		told := toldWords(saved.How, saved.State, "")
		if rest, ok := strings.CutPrefix(saved.Text, told); ok && (rest == "" || strings.HasPrefix(rest, ", ")) {
			return s.toldMoment(r, saved.How, saved.State, strings.TrimPrefix(rest, ", "), at, learnt)
		}
	}
	return s.saidMoment(saved.How, saved.State, saved.Text, at, learnt)
}

func cutBehind(text string) (before string, state api.IntentState, late bool) {
	for _, mark := range []string{lateWords, alreadyWords} {
		before, after, found := strings.Cut(text, mark)
		if !found {
			continue
		}
		for _, state := range api.IntentStates() {
			if stateWords(state) == after {
				return before, state, mark == lateWords
			}
		}
	}
	return text, "", false
}

func typeFromWords(text string) api.EventType {
	for _, t := range []api.EventType{api.OfferRetrieved, api.OfferFailed, api.IntentCompleted, api.OrderFailed} {
		if eventWords(t) == text {
			return t
		}
	}
	return api.EventType(strings.TrimPrefix(text, unknownEvent))
}
