package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

const (
	maxFile   = 1 << 20
	allOf     = "*"        // among the reasons: all failure codes
	theReason = "{reason}" // in a text: the reason of the round
)

// Read reads a scenario. An error names the file, the line and what to do.
func Read(name string, file io.Reader) (*Scenario, error) {
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes, too many for a scenario", name, maxFile)
	}
	if content, err = api.FileText(content); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	s := &Scenario{file: name, Name: strings.TrimSuffix(filepath.Base(name), ".toml")}
	if err := toml.NewDecoder(bytes.NewReader(content)).DisallowUnknownFields().Decode(s); err != nil {
		return nil, placed(name, err)
	}
	if err := s.check(keysOfSteps(content)); err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	return s, nil
}

// placed adds the position to an error of the TOML decoder.
func placed(name string, err error) error {
	var strict *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		key := strict.Errors[0].Key()
		line, _ := strict.Errors[0].Position()
		known := slices.Sorted(maps.Keys(verbs()))
		return fmt.Errorf("%s:%d: there is no %q; a step does one of %s (tillwatch scenario --help)", name, line, key[len(key)-1], strings.Join(known, ", "))
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		text := strings.TrimPrefix(wrong.Error(), "toml: ")
		switch {
		case strings.Contains(text, " into struct field "):
			text = "the value is of the wrong kind: texts and times stand in quotes, numbers do not"
		case strings.Contains(text, " cannot be stored in "):
			text = "the number is out of range; a seed is 0 or more"
		}
		return fmt.Errorf("%s:%d: %s", name, line, text)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// keyAt is a key of a step and its line.
type keyAt struct {
	name string
	line int
}

// keysOfSteps lists the keys of each [[step]] with their lines, which decoding loses.
func keysOfSteps(content []byte) [][]keyAt {
	var steps [][]keyAt
	var p unstable.Parser
	p.Reset(content)
	line, counted := 1, 0 // lines up to an offset
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.ArrayTable:
			steps = append(steps, nil)
		case unstable.KeyValue:
			key := e.Key()
			if len(steps) == 0 || !key.Next() {
				continue
			}
			begin := int(key.Node().Raw.Offset)
			line, counted = line+bytes.Count(content[counted:begin], []byte("\n")), begin
			last := &steps[len(steps)-1]
			*last = append(*last, keyAt{string(key.Node().Data), line})
		}
	}
	return steps
}

// wrong is an error at a line.
type wrong struct {
	line int
	text string
}

func (w *wrong) Error() string { return fmt.Sprintf(":%d: %s", w.line, w.text) }

func at(line int, format string, args ...any) error {
	return &wrong{line, fmt.Sprintf(format, args...)}
}

// check refuses a scenario that cannot be played.
func (s *Scenario) check(keys [][]keyAt) error {
	if len(s.Steps) == 0 || len(keys) != len(s.Steps) {
		return at(1, "write each step as a table of its own, below a line [[step]]")
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	for _, reason := range s.Reasons {
		if reason != allOf && !slices.Contains(simulator.FailureCodes(), reason) {
			return at(1, "%q is not a reason of the service; they are %s, or \"*\" for all", reason, simulator.List(simulator.FailureCodes(), "and"))
		}
	}
	created := map[string]bool{}
	for i := range s.Steps {
		step := &s.Steps[i]
		if len(keys[i]) == 0 {
			return at(1, "step %d is empty: name what it does, such as create = \"order\"", i+1)
		}
		step.Line = keys[i][0].line
		for _, key := range keys[i] { // a number that is left out is 0, too
			if n, counts := map[string]int{"times": step.Times, "count": step.Count, "quantity": step.Quantity}[key.name]; counts && n < 1 {
				return at(key.line, "%s is %d; it must be 1 or more", key.name, n)
			}
		}
		verb, err := verbOf(keys[i])
		if err != nil {
			return err
		}
		if verb == "create" && created[step.Create] {
			return at(step.Line, "a step before this one creates %q, too: give each intent a name of its own", step.Create)
		} else if verb == "create" {
			created[step.Create] = true
		}
		for _, name := range step.named() {
			if !created[name] {
				return at(step.Line, "no step before this one creates %q", name)
			}
		}
		if err := step.checkValues(verb, len(s.Reasons) > 0); err != nil {
			return err
		}
	}
	return nil
}

// verbOf returns what a step does. It refuses a second verb, and options that do not go
// with the verb.
func verbOf(keys []keyAt) (string, error) {
	all := verbs()
	verb := ""
	for _, key := range keys {
		if _, ok := all[key.name]; !ok {
			continue
		}
		if verb != "" {
			return "", at(key.line, "a step does one thing: put %s and %s into steps of their own", verb, key.name)
		}
		verb = key.name
	}
	if verb == "" {
		return "", at(keys[0].line, "the step does nothing: name one of %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	for _, key := range keys {
		if key.name == verb || slices.Contains(all[verb], key.name) {
			continue
		}
		if len(all[verb]) == 0 {
			return "", at(key.line, "%s takes no options: leave out %s", verb, key.name)
		}
		return "", at(key.line, "%s does not go with %s; with it go %s", key.name, verb, strings.Join(all[verb], ", "))
	}
	return verb, nil
}

// checkValues refuses meaningless values.
func (s *Step) checkValues(verb string, hasReasons bool) error {
	event := func(pattern string) bool {
		return slices.ContainsFunc(api.EventTypes(), func(t api.EventType) bool { return t.Matches(pattern) })
	}
	fault := s.Lose + s.Double + s.Delay + s.Reorder
	switch {
	case verb != "pause" && s.Create+s.Wait+s.Confirm+s.Fail+s.Expire+string(s.Trigger)+fault == "":
		return at(s.Line, "%s is empty: give it a name or the type of an event, such as create = \"order\"", verb)
	case s.State != "" && !s.State.Known():
		return at(s.Line, "%q is not a state; they are %s", s.State, simulator.List(api.IntentStates(), "and"))
	case s.Event != "" && !event(string(s.Event)), s.Trigger != "" && !event(string(s.Trigger)), fault != "" && !event(fault):
		return at(s.Line, "%q is not a type of event; they are %s", string(s.Event+s.Trigger)+fault, simulator.List(api.EventTypes(), "and"))
	case s.Reason != "" && s.Reason != theReason && !slices.Contains(simulator.FailureCodes(), api.FailureCode(s.Reason)):
		return at(s.Line, "%q is not a reason of the service; they are %s", s.Reason, simulator.List(simulator.FailureCodes(), "and"))
	case verb == "wait" && s.State == "" && s.Event == "":
		return at(s.Line, "say what to wait for: state = \"completed\", or event = \"checkout_intent.completed\"")
	case verb == "wait" && s.State == "" && (s.Reason != "" || s.Orders != nil):
		return at(s.Line, "reason and orders go with a state: add state = \"failed\" or another")
	case verb == "fail" && s.Reason == "":
		return at(s.Line, "say why it fails, such as reason = \"payment_failed\"")
	case verb == "delay" && s.By == 0:
		return at(s.Line, "say how late the event comes, such as by = \"5s\"")
	case s.Times > 20:
		return at(s.Line, "times is %d; it must be at most 20", s.Times)
	case strings.Contains(s.Product+s.Reason+s.Reference, theReason) && !hasReasons:
		return at(s.Line, "%s stands for one of the reasons: begin the file with reasons = [\"*\"] or a list of them", theReason)
	}
	return nil
}
