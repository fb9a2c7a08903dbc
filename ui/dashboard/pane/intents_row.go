package pane

import (
	"cmp"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
)

// intentRow is an intent made ready to be drawn and found. It is immutable but
// for its moments of glowing and what a confirm says of it.
type intentRow struct {
	*account.Intent
	given   *account.Intent // as it came
	slot    int32           // in the index
	lane    int
	total   string    // the amount, or ""
	since   time.Time // when the state last changed on the screen; zero: never
	changed time.Time // when anything else did
	note    Note
	marked  bool
}

// Note is what a confirm says on the row of its intent.
type Note struct {
	Text string
	Bad  bool
}

func newIntentRow(in *account.Intent, window time.Duration) *intentRow {
	given := in
	if in.ExpiresAt.IsZero() && !in.CreatedAt.IsZero() && in.State == api.AwaitingConfirmation {
		copied := *in
		copied.ExpiresAt = in.CreatedAt.Add(window)
		in = &copied
	}
	row := &intentRow{Intent: in, given: given, lane: laneOf(in.State)}
	if in.Total != nil {
		row.total = in.Total.String()
	}
	return row
}

// found is what the row is found by.
func (r *intentRow) found() (needle, entry) {
	more := ""
	e := entry{quantity: -1}
	if r.Quantity > 0 {
		e.quantity = int32(min(r.Quantity, 1<<30))
	}
	if r.Failure != nil {
		more = string(r.Failure.Code) + " " + failureWords(r.Failure)
	}
	if !r.Since.IsZero() {
		e.since = r.Since.UnixNano()
	}
	if r.Total != nil {
		e.worth, _ = strconv.ParseFloat(r.Total.Amount(), 64)
		e.currency = string(r.Total.Currency)
	}
	state := string(r.State) + " " + sign.Intent(r.State).Word
	return newNeedle(state, string(r.Merchant), string(r.Product), string(r.ID), more+" "+r.total+" "+string(r.ReferenceID)), e
}

// carry takes over from the row before what glows and what was noted.
func (r *intentRow) carry(old *intentRow, now time.Time) {
	r.since, r.changed, r.marked = old.since, old.changed, old.marked
	if r.State == old.State {
		r.note = old.note
	}
	switch {
	case r.State != old.State:
		r.since = now
	case !sameMoney(r.Total, old.Total) || r.Product != old.Product || r.Certainty != old.Certainty || r.Missing != old.Missing:
		r.changed = now
	}
}

func sameMoney(a, b *api.Money) bool {
	return a == b || a != nil && b != nil && *a == *b
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
// oldest, in closed ones the newest.
func compareInLane(a, b *intentRow) int {
	switch a.lane {
	case laneAwaiting:
		return cmp.Or(compareTime(a.ExpiresAt, b.ExpiresAt), compareTime(a.Since, b.Since))
	case laneCompleted, laneFailed:
		return compareTime(b.Since, a.Since)
	}
	return compareTime(a.Since, b.Since)
}

// compareInList groups by lane, those that want a person first.
func compareInList(a, b *intentRow) int {
	rank := [...]int{laneAwaiting: 0, laneOther: 1, lanePlacing: 2, laneRetrieving: 3, laneFailed: 4, laneCompleted: 5, laneNone: 6}
	if c := cmp.Compare(rank[a.lane], rank[b.lane]); c != 0 {
		return c
	}
	return compareInLane(a, b)
}

func compareTime(a, b time.Time) int { return a.Compare(b) }

// From when a state has lasted so long that it deserves a mark. Offers have been
// seen to take minutes, orders too.
const (
	slowRetrieving = 10 * time.Minute
	slowPlacing    = 5 * time.Minute
)

func (r *intentRow) slow(now time.Time) bool {
	d := now.Sub(r.Since)
	return r.lane == laneRetrieving && d >= slowRetrieving || r.lane == lanePlacing && d >= slowPlacing
}
