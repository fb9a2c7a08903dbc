package pane

import (
	"cmp"
	"math"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// intentRow is an intent as it is drawn: what is kept of it, for a moment.
type intentRow struct {
	id        api.ID
	state     api.IntentState
	product   string
	merchant  string
	reference string
	failure   *api.FailureReason // nil while not known
	total     api.Money          // zero while not known
	priced    bool               // the total is known
	since     time.Time
	expires   time.Time
	quantity  int // 0 while not known
	certainty account.Certainty
	missing   bool
	wasRead   bool
	lane      int8
	turned    time.Time // when its state last changed on the screen; zero: never
	changed   time.Time // when anything else did
	note      Note
	marked    bool
}

// row is the intent of a place as it is drawn.
func (p *Intents) row(place uint32) intentRow {
	s := p.shelf
	k := s.at(place)
	r := intentRow{
		id: s.idOf(k), state: api.IntentState(s.words[k.state]),
		product: s.words[k.product], merchant: s.words[k.merchant], reference: s.words[k.reference],
		failure: s.failureOf(k), since: moment(k.since), expires: moment(k.expires),
		quantity: int(k.quantity), certainty: k.certainty, missing: k.is(isMissing), wasRead: k.is(wasRead), lane: k.lane,
		turned: p.untenths(k.turned), changed: p.untenths(k.changed), marked: k.is(isMarked),
	}
	r.total, r.priced = s.totalOf(k)
	if k.is(isNoted) {
		r.note = p.notes[place]
	}
	return r
}

// What happens to a row on the screen is kept in tenths of a second since long
// before the pane was made: a replay may go back.
const (
	tenth      = time.Second / 10
	longBefore = 10 * 365 * 24 * time.Hour
)

func (p *Intents) tenths(t time.Time) uint32 {
	return uint32(min(max((t.Sub(p.made)+longBefore)/tenth, 1), math.MaxUint32))
}

func (p *Intents) untenths(n uint32) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return p.made.Add(time.Duration(n)*tenth - longBefore)
}

// Note is what a confirm says on the row of its intent.
type Note struct {
	Text string
	Bad  bool
}

// The lanes, in the order of the contract's states.
const (
	laneRetrieving = iota
	laneAwaiting
	lanePlacing
	laneCompleted
	laneFailed
	laneOther // a state that the contract does not list
	laneNone  // a state that is not known yet
	lanes     = laneNone
)

func laneOf(s api.IntentState) int {
	switch s {
	case api.RetrievingOffer:
		return laneRetrieving
	case api.AwaitingConfirmation:
		return laneAwaiting
	case api.PlacingOrder:
		return lanePlacing
	case api.Completed:
		return laneCompleted
	case api.Failed:
		return laneFailed
	case "":
		return laneNone
	}
	return laneOther
}

var laneStates = [lanes]api.IntentState{
	api.RetrievingOffer, api.AwaitingConfirmation, api.PlacingOrder, api.Completed, api.Failed, "other",
}

// compareInLane puts first what a person may have to act on: in open lanes the
// oldest, in closed ones the newest. One whose window is not known yet came last.
func compareInLane(a, b *kept) int {
	switch a.lane {
	case laneAwaiting:
		return cmp.Or(compareKnown(a.expires, b.expires), cmp.Compare(a.since, b.since))
	case laneCompleted, laneFailed:
		return cmp.Compare(b.since, a.since)
	}
	return cmp.Compare(a.since, b.since)
}

// compareInList groups by lane, those that want a person first.
func compareInList(a, b *kept) int {
	if c := cmp.Compare(laneRanks[a.lane], laneRanks[b.lane]); c != 0 {
		return c
	}
	return compareInLane(a, b)
}

var laneRanks = [...]int8{laneAwaiting: 0, laneOther: 1, lanePlacing: 2, laneRetrieving: 3, laneFailed: 4, laneCompleted: 5, laneNone: 6}

// From when a state has lasted so long that it deserves a mark, while the account
// has no history. Offers have been seen to take minutes, orders too.
const (
	slowRetrieving = 10 * time.Minute
	slowPlacing    = 5 * time.Minute
)

// slow reports whether an intent has been retrieving or placing for longer than
// 95 % of this account's before it.
func (p *Intents) slow(row *intentRow) bool {
	if row.lane != laneRetrieving && row.lane != lanePlacing {
		return false
	}
	stay := p.look.Now.Sub(row.since)
	if pace := p.pace[row.state]; pace.Tells() {
		return pace.Slow(stay)
	}
	return row.lane == laneRetrieving && stay >= slowRetrieving || row.lane == lanePlacing && stay >= slowPlacing
}
