package command

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// The subjects of a condition.
const (
	ofIntent   = "intent"
	ofShipment = "shipment"
	ofOrder    = "order"
	ofEvent    = "event"
	ofAlert    = "alert"
	ofRelay    = "relay"
)

// condition is a condition as it was typed.
type condition struct {
	text    string
	subject string
	name    string // after its colon
	terms   map[string][]string
}

// waitTerms are the terms of each subject with their values; nil for any.
func waitTerms() map[string]map[string][]string {
	states, kinds := asStrings(api.IntentStates()), []string{}
	for _, k := range account.AlertKinds() {
		kinds = append(kinds, strings.ReplaceAll(string(k), " ", "-"))
	}
	return map[string]map[string][]string{
		ofIntent:   {"state": states, "reason": nil},
		ofShipment: {"status": asStrings(api.ShipmentStatuses())},
		ofOrder:    {"state": states, "items": nil},
		ofEvent:    {"type": nil, "reference": nil, "intent": nil, "id": nil},
		ofAlert:    {"kind": kinds},
		ofRelay:    {},
	}
}

func parseCondition(args []string) (*condition, error) {
	w := &condition{text: strings.Join(strings.Fields(strings.Join(args, " ")), " "), terms: map[string][]string{}}
	words := strings.Fields(w.text)
	if len(words) == 0 {
		return nil, errors.New("for what? as in: tillwatch wait 'intent:ci_… state=completed', or: tillwatch wait relay")
	}
	subject, name, named := strings.Cut(words[0], ":")
	terms, known := waitTerms()[subject]
	must := subject == ofIntent || subject == ofShipment || subject == ofOrder
	switch {
	case !known:
		return nil, fmt.Errorf("%s cannot be waited for%s", shownValue(words[0]), suggest(subject, slices.Sorted(maps.Keys(waitTerms()))))
	case must != named || must && name == "":
		return nil, fmt.Errorf("%s: write intent:ID, shipment:ID or order:REFERENCE, or event, alert or relay without a colon", shownValue(words[0]))
	}
	w.subject, w.name = subject, name
	if subject == ofIntent || subject == ofShipment {
		if err := checkID(name); err != nil {
			return nil, err
		}
	}
	for _, word := range words[1:] {
		if err := w.term(word, terms); err != nil {
			return nil, err
		}
	}
	if len(w.terms) == 0 && (subject == ofShipment || subject == ofOrder || subject == ofEvent) {
		return nil, fmt.Errorf("what of the %s? as in %s=…", subject, slices.Sorted(maps.Keys(terms))[len(terms)-1])
	}
	return w, nil
}

// term takes one name=value.
func (w *condition) term(word string, terms map[string][]string) error {
	key, value, ok := strings.Cut(word, "=")
	values := strings.Split(value, ",")
	known, is := terms[key]
	switch {
	case !ok || slices.Contains(values, ""):
		return fmt.Errorf("%s is not a term: write name=value, as in state=completed", shownValue(word))
	case !is && len(terms) == 0:
		return fmt.Errorf("%s takes no terms", w.subject)
	case !is:
		return fmt.Errorf("%s has no %s%s", w.subject, shownValue(key), suggest(key, slices.Sorted(maps.Keys(terms))))
	case key == "items":
		if n, err := strconv.Atoi(value); err != nil || n < 1 {
			return fmt.Errorf("items is %s; it must be a whole number, 1 or more", shownValue(value))
		}
	}
	for _, v := range values {
		switch {
		case key == "type" && !matchesAny(v):
			return fmt.Errorf("there is no event type %s%s", shownValue(v), suggest(v, eventTypes()))
		case key == "intent":
			if err := checkID(v); err != nil {
				return err
			}
		case known != nil && !slices.Contains(known, v):
			return fmt.Errorf("there is no %s %s%s", key, shownValue(v), suggest(v, known))
		}
	}
	w.terms[key] = append(w.terms[key], values...)
	return nil
}

// reads reports whether reads of the service are needed to check the condition.
func (w *condition) reads() bool {
	return w.subject != ofRelay && (w.subject != ofEvent || len(w.terms["reference"])+len(w.terms["intent"]) > 0)
}

// allows reports whether a term has this value, or is not given.
func (w *condition) allows(term, value string) bool {
	return len(w.terms[term]) == 0 || slices.Contains(w.terms[term], value)
}

// back is how far back the relay's events count.
func (w *condition) back(given time.Duration) time.Duration {
	named := w.subject == ofOrder || len(w.terms["reference"])+len(w.terms["intent"])+len(w.terms["id"]) > 0
	switch {
	case given >= 0:
		return given
	case named:
		return time.Hour
	}
	return 0
}

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

	mu     sync.Mutex
	events []api.Event // candidates, if their intent matches
}

// collect keeps the events that may match.
func (l *waiting) collect(batch []account.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range batch {
		e := &batch[i].Event
		if l.ofType(e.Type) && l.allows("id", string(e.ID)) && l.subject == ofEvent {
			l.events = append(l.events, *e)
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
	case ofShipment:
		l.now = l.shipment()
	case ofOrder:
		l.now = l.order()
	case ofAlert:
		l.now = l.alert()
	case ofEvent:
		l.now = l.event()
	case ofRelay:
		l.now = l.relay()
	}
}

// intent compares the state that a read showed.
func (l *waiting) intent() found {
	in, known := l.store.Intent(api.ID(api.Scrub(l.name)))
	now := found{intent: api.ID(api.Scrub(l.name)), is: "the intent has not been read"}
	switch {
	case known && in.Missing:
		now.verdict, now.is = neverSo, "the service knows no such intent here"
	case known && in.State != "" && in.Certainty == account.Verified:
		now.is, now.verdict = fmt.Sprintf("intent %s is %s", in.ID, wording.Name(string(in.State))), l.judge(&in.Intent)
		if in.Failure != nil {
			now.is += ": " + wording.Name(string(in.Failure.Code))
		}
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

func (l *waiting) shipment() found {
	sh, known := l.store.Shipment(api.ID(api.Scrub(l.name)))
	if !known || sh.Latest == nil {
		return found{is: "the shipment has not been read"}
	}
	now := found{intent: sh.IntentID, is: fmt.Sprintf("shipment %s is %s", sh.ID, wording.Name(string(sh.Status())))}
	switch {
	case l.allows("status", string(sh.Status())):
		now.verdict = isSo
	case sh.Status().Terminal():
		now.verdict = neverSo
	}
	return now
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
		parts = append(parts, fmt.Sprintf("%d %s", o.Counts[state], cmp.Or(wording.Name(string(state)), "not read")))
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

func (l *waiting) alert() found {
	for _, a := range l.store.Summary().Alerts {
		if l.allows("kind", strings.ReplaceAll(string(a.Kind), " ", "-")) {
			return found{verdict: isSo, is: fmt.Sprintf("alert: %s", a.Text), intent: a.Intent}
		}
	}
	return found{is: "there is no such alert"}
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

// event looks for the event, or whether it can still come.
func (l *waiting) event() found {
	l.mu.Lock()
	events := slices.Clone(l.events)
	l.mu.Unlock()
	for _, e := range events {
		if id := l.intentOf(&e); l.concerns(id) {
			return found{verdict: isSo, event: e.ID, intent: id, is: fmt.Sprintf("event %s: %s", e.ID, e.Type)}
		}
	}
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
func (l *waiting) intentOf(e *api.Event) api.ID {
	switch e.Source.Type {
	case api.SourceIntent:
		return e.Source.ID
	case api.SourceShipment:
		if sh, known := l.store.Shipment(e.Source.ID); known {
			return sh.IntentID
		}
	}
	return ""
}

// concerns reports whether the condition names this intent.
func (l *waiting) concerns(id api.ID) bool {
	if len(l.terms["reference"]) == 0 {
		return l.allows("intent", string(id))
	}
	in, known := l.store.Intent(id)
	return known && l.allows("intent", string(id)) && l.allows("reference", string(in.ReferenceID))
}

// concerned are the known intents that the condition names.
func (l *waiting) concerned() (all []*account.Intent) {
	for _, id := range l.terms["intent"] {
		if in, known := l.store.Intent(api.ID(api.Scrub(id))); known {
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
