package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// intents keeps the open intents and the newest of those that ended.
type intents struct {
	table[IntentDetail]
	counts map[api.IntentState]int // "" for those of which only the id is known
	unread int                     // those of which no read was answered
	window time.Duration           // the confirm window
	keep   int                     // how many ended ones, at most
	ended  map[api.ID]bool         // those that have ended or lapsed, as far as known
	past   knownIDs                // those that were dropped
	letGo  int                     // how many were dropped
	whole  answers

	// What the account's intents show about the account.
	reads    *readBook
	day      *day
	pace     paces
	confirms *confirmHistory
}

func newIntents(n *news, cfg *StoreConfig) intents {
	return intents{
		table:  newIntentTable(n),
		counts: map[api.IntentState]int{}, window: cfg.ConfirmWindow, keep: cfg.KeepIntents,
		ended: map[api.ID]bool{}, past: newPast(cfg.KeepIntents),
		whole: newAnswers(), reads: &readBook{}, day: newDay(cfg.DayLimit), pace: paces{}, confirms: &confirmHistory{},
	}
}

func newIntentTable(n *news) table[IntentDetail] {
	return newTable(n, func(in *IntentDetail) (*api.ID, *uint64) { return &in.ID, &in.Version })
}

// edit returns an intent for changes; a new one with only its id if it is unknown.
func (t *intents) edit(id api.ID) *IntentDetail {
	if t.get(id) == nil {
		id = api.ScrubID(string(id))
	}
	t.news.note(signal{intent: id})
	if t.get(id) == nil {
		in := t.table.edit(id)
		in.basis.floor, in.basis.readRank = -1, -1
		t.counts[""]++
		t.unread++
	}
	return t.table.edit(id)
}

// enter moves an intent to a state, and counts it.
func (t *intents) enter(in *IntentDetail, state api.IntentState) {
	t.leave(in.State)
	t.counts[state]++
	in.State = state
	t.setExpiry(in)
}

func (t *intents) leave(state api.IntentState) {
	if t.counts[state]--; t.counts[state] == 0 && !state.Known() {
		delete(t.counts, state)
	}
}

// setExpiry sets the end of the confirm window, counted from the creation, while the intent can still be
// confirmed.
func (t *intents) setExpiry(in *IntentDetail) {
	in.ExpiresAt = time.Time{}
	if !in.CreatedAt.IsZero() && (in.State == api.AwaitingConfirmation || in.State == api.RetrievingOffer) {
		in.ExpiresAt = in.CreatedAt.Add(t.window)
	}
}

// listed counts intents by the contract's states; those in other states count as "".
func (t *intents) listed() map[api.IntentState]int {
	listed := map[api.IntentState]int{}
	for state, n := range t.counts {
		switch {
		case state.Known():
			listed[state] = n
		case state != "":
			listed[""] += n
		}
	}
	return listed
}

// agents counts the intents that are placing orders. The limit is the one that a header named, else the assumed
// one; an assumed limit that is exceeded counts as unknown.
func (t *intents) agents(limit int, buckets []quota.Bucket) AgentCount {
	count := AgentCount{Placing: t.counts[api.PlacingOrder], Limit: limit, Assumed: true}
	if b := firstBucket(buckets, ofAgents); b != nil {
		count.Limit, count.Assumed = whole(b.Limit), false
	}
	if count.Placing > count.Limit {
		count.Limit, count.Assumed = 0, false
	}
	return count
}

// open lists the intents that are not known to have ended.
func (t *intents) open() []*IntentDetail {
	var open []*IntentDetail
	for _, in := range t.byID {
		if in.Open() {
			open = append(open, in)
		}
	}
	return open
}

// closing counts the intents whose state ends by itself or by another client's confirm.
func (t *intents) closing() int {
	return t.counts[api.AwaitingConfirmation] + t.counts[api.PlacingOrder]
}

// detail returns an intent, with the whole newest answer if that is kept; nil for none.
func (t *intents) detail(id api.ID) *IntentDetail {
	in := t.get(id)
	answer := t.whole.of(id)
	if in == nil || answer == nil {
		return in
	}
	whole := *in
	whole.Latest = answer
	return &whole
}

// noteEnd records whether an intent has ended.
func (t *intents) noteEnd(in *IntentDetail) {
	if in.over() {
		t.ended[in.ID] = true
	} else {
		delete(t.ended, in.ID)
	}
}

// lapsed is how long after the end of its window an intent may be dropped like those that ended: nobody can confirm it,
// though no read has shown yet how it ended.
const lapsed = time.Hour

// noteLapse counts an intent among the ended ones, of which the oldest are dropped, if its window closed long ago. For
// an intent that was never read, the window is taken to begin when the intent became known, which is the latest
// possible time.
func (t *intents) noteLapse(in *IntentDetail, now time.Time) {
	closed := in.ExpiresAt
	if in.ReadAt.IsZero() && !in.basis.known.IsZero() && in.State != api.PlacingOrder {
		closed = in.basis.known.Add(t.window)
	}
	if !closed.IsZero() && now.Sub(closed) > lapsed {
		t.ended[in.ID] = true
	}
}

// dropSurplus drops the intents that ended first if too many are kept, and returns them. It lets a few more gather
// first, because looking through all of them for each one would take long.
func (t *intents) dropSurplus() []*IntentDetail {
	if len(t.ended) <= t.keep+t.keep/16 {
		return nil
	}
	ended := make([]*IntentDetail, 0, len(t.ended))
	for id := range t.ended {
		ended = append(ended, t.get(id))
	}
	slices.SortFunc(ended, func(a, b *IntentDetail) int {
		if order := cmp.Or(a.Since, a.basis.known).Compare(cmp.Or(b.Since, b.basis.known)); order != 0 {
			return order
		}
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	gone := ended[:len(ended)-t.keep]
	for _, in := range gone {
		t.past.add(in.ID)
		t.letGo++
		t.letGoOf(in)
	}
	return gone
}

func (t *intents) letGoOf(in *IntentDetail) {
	t.leave(in.State)
	if in.ReadAt.IsZero() {
		t.unread--
	}
	t.whole.drop(in.ID)
	delete(t.ended, in.ID)
	t.drop(in.ID)
	t.news.note(signal{intent: in.ID})
}

// restore fills in an intent of an earlier run unless it is known; its shipments are tied to it later. It trusts
// nothing: anyone can write the file.
func (t *intents) restore(saved *IntentDetail, m intentMemory, now time.Time) *IntentDetail {
	if t.get(saved.ID) != nil {
		return nil
	}
	in := t.edit(saved.ID)
	empty := *in
	*in = *saved
	in.ID, in.Version, in.basis, in.State, in.Shipments, in.Timeline = empty.ID, empty.Version, empty.basis, "", nil, nil
	in.Since, in.CreatedAt, in.ReadAt = plausible(saved.Since), plausible(saved.CreatedAt), measured(saved.ReadAt, now)
	if !in.ReadAt.IsZero() {
		t.unread--
	}
	in.Reads = max(saved.Reads, 0)
	if in.Latest != nil {
		in.basis.readRank, in.basis.ordered = in.Latest.State.Rank(), len(in.Latest.OrderIDs) > 0
		in.Quantity, in.ReferenceID, in.Failure = in.Latest.Quantity, in.Latest.ReferenceID, in.Latest.Failure
	}
	t.enter(in, saved.State)
	for _, moment := range saved.Timeline {
		if !in.remembers(moment.EventID) {
			in.remember(moment)
		}
	}
	b := &in.basis
	b.floor = min(max(m.Floor, in.State.Rank()), api.Completed.Rank())
	// A clock that was set back must not make the past newer than the next read.
	b.newest, b.lastEvent = earlier(measured(m.Newest.time(), now), now), m.LastEvent.time()
	b.seen, b.listed, b.observed, b.reads = m.Seen, m.Listed, m.Observed, max(m.StateReads, 0)
	b.behind, b.missing = max(m.Behind, 0), max(m.NotFound, 0)
	t.knownSince(in, m.Known.time())
	t.noteEnd(in)
	return in
}
