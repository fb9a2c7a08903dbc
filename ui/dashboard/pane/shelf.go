package pane

import (
	"cmp"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// shelf keeps what rows show of intents, small and side by side in memory: there
// may be 100,000 of them. An intent keeps its place, a number from 0.
type shelf struct {
	blocks   [][]kept
	count    uint32
	others   []api.ID // ids of another form than the service gives
	index    placeIndex
	words    []string
	known    map[string]uint32 // words by what they say
	failures []api.FailureReason
	reasons  map[api.FailureReason]uint32
}

// kept is what is kept of one intent. Its texts are words of the shelf, its times
// Unix nanoseconds; 0 stands for none.
type kept struct {
	id      account.PackedID // the number of another, if it is of another form
	since   int64
	expires int64
	total   int64 // in subunits, while there is a currency

	product, merchant, reference, state uint32
	currency                            uint32 // 0 while there is no total
	failure                             uint32 // counted from 1
	quantity                            int32
	turned                              uint32 // when its state last changed on the screen, in tenths of a second
	changed                             uint32 // when anything else did
	certainty                           account.Certainty
	flags                               flags
	lane                                int8
}

type flags uint8

const (
	isMissing flags = 1 << iota // the service answered 404 to the last read
	wasRead
	isNoted
	isMarked
	isListed // it stands in the tables
	isMoving // it is about to be put into them, or elsewhere in them
	hasOtherID
)

const keptPerBlock = 256

// noCurrency is the word of a total whose currency is not told.
const noCurrency = "\x00"

func newShelf() *shelf {
	return &shelf{index: newPlaceIndex(), words: []string{""}, known: map[string]uint32{"": 0}, reasons: map[api.FailureReason]uint32{}}
}

// at is the intent of a place that was given out.
func (s *shelf) at(place uint32) *kept { return &s.blocks[place/keptPerBlock][place%keptPerBlock] }

// find is the place of an intent.
func (s *shelf) find(id string) (place uint32, ok bool) {
	packed, ok := account.PackID(id)
	return s.index.find(id, func(place uint32) bool {
		k := s.at(place)
		if k.is(hasOtherID) {
			return string(s.others[k.id.Number()]) == id
		}
		return ok && k.id == packed
	})
}

// add gives an intent that has none a place.
func (s *shelf) add(id api.ID) uint32 {
	if s.count%keptPerBlock == 0 {
		s.blocks = append(s.blocks, make([]kept, keptPerBlock))
	}
	place := s.count
	s.count++
	k := s.at(place)
	if packed, ok := account.PackID(string(id)); ok {
		k.id = packed
	} else {
		k.id = account.PackNumber(len(s.others))
		k.set(hasOtherID, true)
		s.others = append(s.others, id)
	}
	s.index.add(string(id), place)
	return place
}

// idOf is the id of an intent.
func (s *shelf) idOf(k *kept) api.ID {
	if k.is(hasOtherID) {
		return s.others[k.id.Number()]
	}
	return k.id.ID()
}

// compareIDs orders what nothing else orders.
func (s *shelf) compareIDs(a, b *kept) int {
	if a.is(hasOtherID) || b.is(hasOtherID) {
		return cmp.Compare(s.idOf(a), s.idOf(b))
	}
	return a.id.Compare(b.id)
}

// of makes of an intent what is kept of it, beside what has happened to it on the
// screen. before is what was kept until now.
func (s *shelf) of(in *account.Intent, before *kept, window time.Duration) kept {
	k := *before
	k.since, k.expires = nanoseconds(in.Since), nanoseconds(expiryOf(in, window))
	k.state, k.product, k.merchant = s.word(string(in.State)), s.word(string(in.Product)), s.word(string(in.Merchant))
	if s.words[before.reference] != string(in.ReferenceID) { // there is one an intent: it is not looked for
		k.reference = s.newWord(string(in.ReferenceID))
	}
	k.total, k.currency = 0, 0
	if in.Total != nil {
		k.total, k.currency = in.Total.Subunits, s.word(cmp.Or(in.Total.Currency, noCurrency))
	}
	k.failure = s.reason(in.Failure)
	k.quantity = int32(min(max(in.Quantity, 0), 1<<30))
	k.certainty, k.lane = in.Certainty, int8(laneOf(in.State))
	k.set(isMissing, in.Missing)
	k.set(wasRead, !in.ReadAt.IsZero())
	return k
}

func (k *kept) set(f flags, on bool) {
	k.flags &^= f
	if on {
		k.flags |= f
	}
}

func (k *kept) is(f flags) bool { return k.flags&f != 0 }

// expiryOf is the end of the confirm window, of an intent that does not tell it
// as far as its creation does.
func expiryOf(in *account.Intent, window time.Duration) time.Time {
	if in.ExpiresAt.IsZero() && !in.CreatedAt.IsZero() && in.State == api.AwaitingConfirmation {
		return in.CreatedAt.Add(window)
	}
	return in.ExpiresAt
}

// nanoseconds since 1970; 0 for no time, and for one that does not fit.
func nanoseconds(t time.Time) int64 {
	if year := t.Year(); year < 1970 || year > 2200 {
		return 0
	}
	return t.UnixNano()
}

func moment(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

// totalOf is the total of an intent, if it has one.
func (s *shelf) totalOf(k *kept) (total api.Money, ok bool) {
	if k.currency == 0 {
		return api.Money{}, false
	}
	total.Subunits = k.total
	if word := s.words[k.currency]; word != noCurrency {
		total.Currency = word
	}
	return total, true
}

// word numbers a text; the same text has one number.
func (s *shelf) word(text string) uint32 {
	n, ok := s.known[text]
	if !ok {
		n = s.newWord(text)
		s.known[text] = n
	}
	return n
}

func (s *shelf) newWord(text string) uint32 {
	if text == "" {
		return 0
	}
	s.words = append(s.words, text)
	return uint32(len(s.words) - 1)
}

func (s *shelf) reason(f *api.FailureReason) uint32 {
	if f == nil {
		return 0
	}
	n, ok := s.reasons[*f]
	if !ok {
		s.failures = append(s.failures, *f)
		n = uint32(len(s.failures))
		s.reasons[*f] = n
	}
	return n
}

func (s *shelf) failureOf(k *kept) *api.FailureReason {
	if k.failure == 0 {
		return nil
	}
	return &s.failures[k.failure-1]
}
