package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// The subjects of a condition.
const (
	ofIntent = "intent"
	ofOrder  = "order"
	ofEvent  = "event"
	ofRelay  = "relay"
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
	states := asStrings(api.IntentStates())
	return map[string]map[string][]string{
		ofIntent: {"state": states, "reason": nil},
		ofOrder:  {"state": states, "items": nil},
		ofEvent:  {"type": nil, "reference": nil, "intent": nil, "id": nil},
		ofRelay:  {},
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
	must := subject == ofIntent || subject == ofOrder
	instead := ""
	switch {
	case instead != "":
		return nil, fmt.Errorf("%s cannot be waited for%s", config.Shown(words[0]), instead)
	case !known:
		return nil, fmt.Errorf("%s cannot be waited for%s", config.Shown(words[0]), wording.Suggest(subject, slices.Sorted(maps.Keys(waitTerms()))))
	case must != named || must && name == "":
		return nil, fmt.Errorf("%s: write intent:ID or order:REFERENCE, or event or relay without a colon", config.Shown(words[0]))
	}
	w.subject, w.name = subject, name
	if subject == ofIntent {
		if err := session.CheckID(name); err != nil {
			return nil, err
		}
	}
	for _, word := range words[1:] {
		if err := w.term(word, terms); err != nil {
			return nil, err
		}
	}
	if len(w.terms) == 0 && (subject == ofOrder || subject == ofEvent) {
		return nil, fmt.Errorf("what of the %s? as in %s=…", subject, slices.Sorted(maps.Keys(terms))[len(terms)-1])
	}
	return w, nil
}

// term takes one name=value.
func (w *condition) term(word string, terms map[string][]string) error {
	key, value, found := strings.Cut(word, "=")
	values := strings.Split(value, ",")
	known, ok := terms[key]
	switch {
	case !found || slices.Contains(values, ""):
		return fmt.Errorf("%s is not a term: write name=value, as in state=completed", config.Shown(word))
	case !ok && len(terms) == 0:
		return fmt.Errorf("%s takes no terms", w.subject)
	case !ok:
		return fmt.Errorf("%s has no %s%s", w.subject, config.Shown(key), wording.Suggest(key, slices.Sorted(maps.Keys(terms))))
	case key == "items":
		if n, err := strconv.Atoi(value); err != nil || n < 1 {
			return fmt.Errorf("items is %s; it must be a whole number, 1 or more", config.Shown(value))
		}
	}
	for _, v := range values {
		switch {
		case key == "type" && !matchesAny(v):
			return fmt.Errorf("there is no event type %s%s", config.Shown(v), wording.Suggest(v, eventTypes()))
		case key == "intent":
			if err := session.CheckID(v); err != nil {
				return err
			}
		case known != nil && !slices.Contains(known, v):
			return fmt.Errorf("there is no %s %s%s", key, config.Shown(v), wording.Suggest(v, known))
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
