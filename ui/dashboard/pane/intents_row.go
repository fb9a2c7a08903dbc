package pane

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// intentRow is an intent on the screen. A change of the intent makes a new one.
type intentRow struct {
	*account.Intent
	lane        int
	total       string    // as shown; "" if unknown
	expires     time.Time // the end of the confirm window; zero if unknown
	turned      time.Time // when its state last changed on the screen; zero: never
	changed     time.Time // when anything else last changed; zero: never
	*searchText           // the text by which a filter finds it

	head  *intentRow     // the head above an item of an order, while the list is grouped; otherwise nil
	order *account.Order // the order of a head, which has the figures of the whole order; nil for an intent
	items []*intentRow   // the items below a head
}

// key identifies the row in a table.
func (r *intentRow) key() string {
	if r.order != nil {
		return headKey(r.order.Reference)
	}
	return string(r.ID)
}

func (r *intentRow) subject() Subject {
	if r.order != nil {
		return Subject{Kind: OfOrder, Reference: r.order.Reference}
	}
	return Subject{Kind: OfIntent, ID: r.ID}
}

func newIntentRow(in *account.Intent) *intentRow {
	row := &intentRow{Intent: in, lane: laneOf(in.State)}
	if in.Total != nil {
		row.total = in.Total.Readable()
	}
	row.searchText = textOf(row)
	return row
}

// textOf returns the text by which a filter finds an intent. It has the total without the
// shown commas.
func textOf(r *intentRow) *searchText {
	more := string(r.ReferenceID) + " " + strings.ReplaceAll(r.total, ",", "")
	if r.unread() > 0 {
		more += edged(unread)
	}
	if r.Failure != nil {
		more += " " + string(r.Failure.Code)
	}
	if r.Failure != nil || r.lane == laneFailed {
		more += edged(wording.Failure(r.Failure))
	}
	n := newSearchText(worded(r.State, sign.Intent(r.State)), edged(string(r.Merchant)), string(r.Product), string(r.ID), more)
	return &n
}

// unread returns 1 if no read has returned the row's state; 0 otherwise and for nil.
func (r *intentRow) unread() int {
	if r == nil || r.Certainty == account.Verified {
		return 0
	}
	return 1
}

func (r *intentRow) figure(of figure, now time.Time) (value float64, unit string, ok bool) {
	switch of {
	case amount:
		if r.Total == nil {
			return 0, "", false
		}
		return float64(r.Total.Subunits) / math.Pow10(r.Total.Decimals()), r.Total.Currency, r.Total.Currency != ""
	case age:
		return now.Sub(r.Since).Seconds(), "", !r.Since.IsZero()
	case count:
		return float64(r.Quantity), "", r.Quantity > 0
	}
	return 0, "", false
}

// earliest returns the earliest time at which the intent may have entered its state. If only a
// read found the state, it may be as old as the intent. Zero: unknown.
func (r *intentRow) earliest() time.Time {
	if since := beganAt(r.Intent); !since.IsZero() {
		return since
	}
	return r.CreatedAt
}

// oldest is the greatest age that the row may have, in seconds.
func (r *intentRow) oldest(now time.Time) float64 {
	if since := r.earliest(); !since.IsZero() {
		return now.Sub(since).Seconds()
	}
	return math.Inf(1)
}

// Note is the note of a confirm on the row of its intent.
type Note struct {
	Text  string
	Style paint.Style
}

// The lanes, in the order of the contract's states.
const (
	laneRetrieving = iota
	laneAwaiting
	lanePlacing
	laneCompleted
	laneFailed
	laneOther // states that the contract does not list
	laneNone  // unknown states, which have no lane
	lanes     = laneNone
)

func laneOf(s api.IntentState) int {
	if s == "" {
		return laneNone
	}
	if lane := slices.Index(laneStates[:laneOther], s); lane >= 0 {
		return lane
	}
	return laneOther
}

var laneStates = [lanes]api.IntentState{
	api.RetrievingOffer, api.AwaitingConfirmation, api.PlacingOrder, api.Completed, api.Failed, "other",
}

// compareIntents puts first what a person may have to act on: the lanes that need a person,
// and in a lane the oldest of open intents or the newest of ended ones. Awaiting intents
// without a known expiry come last in their lane.
func compareIntents(a, b *intentRow) int {
	if c := cmp.Compare(laneRanks[a.lane], laneRanks[b.lane]); c != 0 {
		return c
	}
	switch a.lane {
	case laneAwaiting:
		return cmp.Or(compareTimes(a.expires, b.expires), a.Since.Compare(b.Since))
	case laneCompleted, laneFailed:
		return b.Since.Compare(a.Since)
	}
	return a.Since.Compare(b.Since)
}

var laneRanks = [...]int8{laneAwaiting: 0, laneOther: 1, lanePlacing: 2, laneRetrieving: 3, laneFailed: 4, laneCompleted: 5, laneNone: 6}
