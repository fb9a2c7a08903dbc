package pane

import (
	"cmp"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
)

// intentRow is an intent made ready to be drawn and found. There may be 100,000
// of them: what few have stands apart.
type intentRow struct {
	*account.Intent
	given  *account.Intent // as it came
	lately *lately         // nil for most
	slot   int32           // in the index
	lane   int8
}

// lately is what has happened to a row on the screen. It is not changed but
// replaced.
type lately struct {
	since   time.Time // when the state last changed; zero: never
	changed time.Time // when anything else did
	note    Note
	marked  bool
}

// late is what has happened to the row.
func (r *intentRow) late() lately {
	if r.lately == nil {
		return lately{}
	}
	return *r.lately
}

func (r *intentRow) setLate(l lately) {
	r.lately = nil
	if l != (lately{}) {
		r.lately = &l
	}
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
	return &intentRow{Intent: in, given: given, lane: int8(laneOf(in.State))}
}

// figures are what the row can be measured by.
func (r *intentRow) figures() entry {
	e := entry{quantity: -1}
	if r.Quantity > 0 {
		e.quantity = int32(min(r.Quantity, 1<<30))
	}
	if !r.Since.IsZero() {
		e.since = r.Since.UnixNano()
	}
	if r.Total != nil {
		e.worth, _ = strconv.ParseFloat(r.Total.Amount(), 64)
		e.currency = string(r.Total.Currency)
	}
	return e
}

// text is what the row is found by, in the order of the columns.
func (r *intentRow) text() (columns [len(needle{}.ends) + 1][]string) {
	columns[0] = []string{string(r.State), sign.Intent(r.State).Word}
	columns[1] = []string{string(r.Merchant)}
	columns[2] = []string{string(r.Product)}
	columns[3] = []string{string(r.ID)}
	if r.Failure != nil {
		columns[4] = append(columns[4], string(r.Failure.Code), failureWords(r.Failure))
	}
	if r.Total != nil {
		columns[4] = append(columns[4], r.Total.String())
	}
	columns[4] = append(columns[4], string(r.ReferenceID))
	return columns
}

// carry takes over from the row before what glows and what was noted.
func (r *intentRow) carry(old *intentRow, now time.Time) {
	l := old.late()
	if r.State != old.State {
		l.note = Note{}
	}
	switch {
	case r.State != old.State:
		l.since = now
	case !sameMoney(r.Total, old.Total) || r.Product != old.Product || r.Certainty != old.Certainty || r.Missing != old.Missing:
		l.changed = now
	}
	r.setLate(l)
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
	stay := p.look.Now.Sub(row.Since)
	if pace := p.pace[row.State]; pace.Tells() {
		return pace.Slow(stay)
	}
	return row.lane == laneRetrieving && stay >= slowRetrieving || row.lane == lanePlacing && stay >= slowPlacing
}
