package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// waitVerdict is the state of a condition.
type waitVerdict uint8

const (
	notYet waitVerdict = iota
	isSo
	neverSo
)

// found is the result of a check.
type found struct {
	verdict waitVerdict
	is      string // in words
	intent  api.ID
	event   api.ID
}

// waiting checks a condition on a picture.
type waiting struct {
	*condition
	store *account.Store
	now   found
	held  string // what reads wait for; "" for nothing

	mu     sync.Mutex
	events []candidate
}

// candidate is an event that the condition may mean: a read may first have to reveal its intent
// or order.
type candidate struct {
	id     api.ID
	kind   api.EventType
	source api.EventSource
}

// collect keeps the events that may match.
func (l *waiting) collect(batch []account.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range batch {
		e := &batch[i].Event
		if l.ofType(e.Type) && l.allows("id", string(e.ID)) && l.subject == ofEvent {
			l.events = append(l.events, candidate{e.ID, e.Type, e.Source})
		}
	}
}

func (l *waiting) ofType(t api.EventType) bool {
	return len(l.terms["type"]) == 0 || slices.ContainsFunc(l.terms["type"], t.Matches)
}

// look checks the condition.
func (l *waiting) look() {
	switch l.subject {
	case ofIntent:
		l.now = l.intent()
	case ofOrder:
		l.now = l.order()
	case ofEvent:
		l.now = l.event()
	case ofRelay:
		l.now = l.relay()
	}
}

// intent compares the state that a read showed.
func (l *waiting) intent() found {
	id := api.ScrubID(l.name)
	in, known := l.store.Intent(id)
	now := found{intent: id, is: "the intent has not been read"}
	switch {
	case known && in.Missing:
		now.verdict, now.is = neverSo, "the service knows no such intent here"
	case known && in.State != "" && in.Certainty == account.Verified:
		now.is, now.verdict = fmt.Sprintf("intent %s is %s", in.ID, wording.Name(string(in.State))), l.judge(&in.Intent)
		if in.Failure != nil {
			now.is += ": " + in.Failure.Code.Words()
		}
	case known && in.Latest != nil && in.Latest.State == "":
		now.is = fmt.Sprintf("the service does not say which state intent %s is in", in.ID)
	case known && in.Latest != nil:
		now.is = fmt.Sprintf("intent %s has not been read since an event reported it %s", in.ID, wording.Name(string(in.State)))
	}
	return now
}

// judge compares an intent's state and reason, if a read showed them.
func (l *waiting) judge(in *account.Intent) waitVerdict {
	reason := ""
	if in.Failure != nil {
		reason = string(in.Failure.Code)
	}
	switch {
	case in.Certainty != account.Verified:
	case l.allows("state", string(in.State)) && l.allows("reason", reason):
		return isSo
	case in.State.Terminal() || in.State.Known() && l.past(in.State):
		return neverSo
	}
	return notYet
}

// past reports whether no wanted state can follow this one.
func (l *waiting) past(state api.IntentState) bool {
	return len(l.terms["state"]) > 0 && !slices.ContainsFunc(l.terms["state"], func(s string) bool { return api.IntentState(s).Rank() >= state.Rank() })
}

// order wants all items in one of the states.
func (l *waiting) order() found {
	o := l.store.Order(api.Scrub(l.name))
	if o == nil {
		return found{is: "no intent of the order is known"}
	}
	least := 1
	if n := l.terms["items"]; len(n) > 0 {
		least, _ = strconv.Atoi(n[len(n)-1])
	}
	now := found{verdict: isSo}
	var parts []string
	for _, state := range slices.SortedFunc(maps.Keys(o.Counts), func(a, b api.IntentState) int { return cmp.Compare(b.Rank(), a.Rank()) }) {
		parts = append(parts, fmt.Sprintf("%d %s", o.Counts[state], cmp.Or(wording.Name(string(state)), "of unknown state")))
	}
	now.is = fmt.Sprintf("of order %s %s", o.Reference, strings.Join(parts, ", "))
	if len(o.Intents) < least {
		now.verdict = notYet
	}
	for _, in := range o.Intents {
		switch l.judge(in) {
		case notYet:
			now.verdict = notYet
		case neverSo:
			now.verdict = neverSo
			return now
		}
	}
	return now
}

// relay wants the relay to be live: it answers, accepts the token and streams.
func (l *waiting) relay() found {
	switch feed := l.store.Summary().Feed; {
	case feed.State == account.FeedLive:
		return found{verdict: isSo, is: "the relay is ready"}
	case feed.State == account.FeedRefused:
		return found{verdict: neverSo, is: "the relay refuses this client: " + wording.Because(feed.Err)}
	case feed.Err != nil:
		return found{is: "the relay does not answer: " + wording.Because(feed.Err)}
	}
	return found{is: "the relay has not answered"}
}

// event looks for the event, and finds out whether it can still come. It keeps only the
// candidates whose intent or order a read may still reveal.
func (l *waiting) event() found {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []candidate
	for _, e := range l.events {
		switch id := l.intentOf(e.source); l.concerns(e.source.Type, id) {
		case isSo:
			return found{verdict: isSo, event: e.id, intent: id, is: fmt.Sprintf("event %s: %s", e.id, e.kind)}
		case notYet:
			open = append(open, e)
		}
	}
	l.events = open
	if now := l.relay(); now.verdict == neverSo {
		return now
	}
	now := found{is: "no such event has come"}
	if concerned := l.concerned(); len(concerned) > 0 && !slices.ContainsFunc(concerned, l.mayCome) {
		last := concerned[len(concerned)-1]
		now.verdict, now.intent = neverSo, last.ID
		now.is = fmt.Sprintf("no such event has come, and intent %s is %s", last.ID, cmp.Or(wording.Name(string(last.State)), "not there"))
	}
	return now
}

// intentOf is the intent of an event; "" if it has none or none is known yet.
func (l *waiting) intentOf(source api.EventSource) api.ID {
	switch source.Type {
	case api.SourceIntent:
		return source.ID
	case api.SourceShipment:
		if sh, known := l.store.Shipment(source.ID); known {
			return sh.IntentID
		}
	}
	return ""
}

// concerns says whether the condition means an event about this intent; notYet until a read
// can say. id is "" while the event's intent is unknown.
func (l *waiting) concerns(source api.SourceType, id api.ID) waitVerdict {
	in, known := l.store.Intent(id)
	switch {
	case !l.reads():
		return isSo
	case source != api.SourceIntent && source != api.SourceShipment, id != "" && !l.allows("intent", string(id)):
		return neverSo
	case id == "":
		return notYet
	case len(l.terms["reference"]) == 0, known && l.allows("reference", string(in.ReferenceID)):
		return isSo
	case known && in.Latest != nil:
		return neverSo
	}
	return notYet
}

// concerned are the known intents that the condition names.
func (l *waiting) concerned() (all []*account.Intent) {
	for _, id := range l.terms["intent"] {
		if in, known := l.store.Intent(api.ScrubID(id)); known {
			all = append(all, &in.Intent)
		}
	}
	if len(l.terms["intent"]) > 0 {
		return all
	}
	for _, reference := range l.terms["reference"] {
		if o := l.store.Order(api.Scrub(reference)); o != nil {
			all = append(all, o.Intents...)
		}
	}
	return all
}

// mayCome reports whether an intent can still have one of the wanted event types.
func (l *waiting) mayCome(in *account.Intent) bool {
	if in.Missing {
		return false
	}
	if in.Certainty != account.Verified || len(l.terms["type"]) == 0 {
		return true
	}
	return slices.ContainsFunc(l.terms["type"], func(t string) bool {
		switch api.EventType(t) {
		case api.IntentCompleted:
			return in.State != api.Failed
		case api.OrderFailed:
			return in.State != api.Completed && !(in.State == api.Failed && in.Failure != nil && in.Failure.Code == api.Expired)
		case api.OfferFailed:
			return in.State.Rank() < api.AwaitingConfirmation.Rank() || in.State == api.Failed
		}
		return true
	})
}
