package dashboard

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// NamedFilter is a filter of a pane that a person has saved under a name.
type NamedFilter struct {
	Name string `json:"name"`
	Pane string `json:"pane"`
	Text string `json:"text"`
}

// mostNamed is the most saved filters that are shown.
const mostNamed = 50

// filterName matches a valid name: one word for the palette.
var filterName = regexp.MustCompile(`^[\pL\d][\pL\d_-]{0,23}$`)

// UsableFilters returns the valid filters of a list that are shown, each name once.
func UsableFilters(all []NamedFilter) []NamedFilter {
	valid := validFilters(all)
	return valid[:min(len(valid), mostNamed)]
}

func validFilters(all []NamedFilter) (valid []NamedFilter) {
	for _, n := range all {
		n.Text = string(api.Scrub(n.Text))
		_, known := paneCalled(n.Pane)
		twice := slices.ContainsFunc(valid, func(other NamedFilter) bool { return strings.EqualFold(other.Name, n.Name) })
		if known && !twice && filterName.MatchString(n.Name) && n.Text != "" && !tooLong(n.Text) {
			valid = append(valid, n)
		}
	}
	return valid
}

func paneCalled(name string) (layout.Pane, bool) {
	for p := range layout.Pane(layout.Panes) {
		if p.String() == name && p != layout.Detail {
			return p, true
		}
	}
	return 0, false
}

// savedFilters applies and changes the filters that are saved under names.
type savedFilters struct {
	*shared
	filters *filters
}

// named returns the saved filter with a name, ignoring case as the palette does.
func (p *preferences) named(name string) (n NamedFilter, ok bool) {
	at := slices.IndexFunc(p.Filters, func(n NamedFilter) bool { return strings.EqualFold(n.Name, name) })
	if at < 0 {
		return NamedFilter{}, false
	}
	return p.Filters[at], true
}

func (p *preferences) filterNames() (names []string) {
	for _, n := range p.Filters {
		names = append(names, n.Name)
	}
	return names
}

// save saves the filter of the pane under a name; taken is true if the name means
// something else in the palette.
func (k *savedFilters) save(name string, taken bool) error {
	at := k.board.paneBehind()
	now := k.filters.inPane[at]
	switch {
	case now == nil:
		return errors.New("this pane has no filter to save: " + k.cfg.Actions.KeyOf(action.Filter) + " types one")
	case !filterName.MatchString(name):
		return errors.New("a name is one word of at most 24 letters, digits and hyphens, as in late")
	case taken:
		return errors.New(name + " means something else in the palette: choose another name")
	}
	p := k.preferences
	before, replaces := p.named(name)
	said := name + " is saved: / " + now.Text
	if replaces {
		said = name + " is replaced: / " + now.Text + ", it was / " + before.Text
	} else if len(p.Filters) >= mostNamed {
		return fmt.Errorf("%d filters are saved, which is the maximum: forget one first", mostNamed)
	}
	p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(n NamedFilter) bool { return strings.EqualFold(n.Name, name) })
	p.Filters = append(p.Filters, NamedFilter{name, at.String(), now.Text})
	p.keep()
	k.notices.say(plain, said)
	return nil
}

// forget deletes the saved filter with a name.
func (k *savedFilters) forget(name string) error {
	p := k.preferences
	n, ok := p.named(name)
	switch {
	case !ok && len(p.Filters) == 0:
		return errors.New("no filter is saved: save NAME saves this pane's")
	case !ok:
		return errors.New("no filter is called " + name + "; there are " + strings.Join(p.filterNames(), ", "))
	}
	p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(n NamedFilter) bool { return strings.EqualFold(n.Name, name) })
	p.keep()
	k.notices.say(plain, "forgotten: "+name+", / "+n.Text)
	return nil
}

// show applies a saved filter to its pane, and gives that pane the focus.
func (k *savedFilters) show(n NamedFilter) (tea.Cmd, error) {
	at, _ := paneCalled(n.Pane)
	p, ok := k.board.panes[at].(filtered)
	if !ok {
		return nil, errors.New(n.Pane + " cannot be filtered")
	}
	f := pane.ParseFilter(n.Text, p.Fields())
	switch {
	case tooLong(n.Text):
		return nil, errors.New(tooLongFilter())
	case f != nil && f.Wrong != "":
		return nil, errors.New(f.Wrong)
	}
	k.board.turnTo(at)
	cmd := k.filters.use(at, f)
	k.board.intents.Stay()
	return cmd, nil
}

// WrongFilter says what is wrong with a filter of the intents; "" if nothing is.
func WrongFilter(text string) string {
	_, wrong := IntentFilter(text, nil)
	return wrong
}

// IntentFilter reads a filter of the intents for use without a screen: its text, or the
// name of a saved one. f is nil if the text asks for nothing; wrong says what is wrong
// with it, "" if nothing is.
func IntentFilter(text string, kept []NamedFilter) (f *pane.Filter, wrong string) {
	return readFilter(text, kept, layout.Intents, pane.NewIntents(&pane.Look{}, api.ConfirmWindow).Fields())
}

// EventFilter is like [IntentFilter], for events. Nothing is known about them beyond their
// own fields: the field product is missing.
func EventFilter(text string, kept []NamedFilter) (f *pane.Filter, wrong string) {
	fields := slices.DeleteFunc(pane.NewEvents(&pane.Look{}, nil).Fields(), func(f pane.Field) bool { return f.Name == "product" })
	return readFilter(text, kept, layout.Events, fields)
}

func readFilter(text string, kept []NamedFilter, at layout.Pane, fields []pane.Field) (f *pane.Filter, wrong string) {
	p := preferences{Layout: Layout{Filters: validFilters(kept)}}
	if n, ok := p.named(text); ok && n.Pane != at.String() {
		return nil, text + " filters " + n.Pane + ", not " + at.String()
	} else if ok {
		text = n.Text
	}
	if tooLong(text) {
		return nil, tooLongFilter()
	}
	if f = pane.ParseFilter(string(api.Scrub(text)), fields); f != nil {
		return f, f.Wrong
	}
	return nil, ""
}

// begin applies the filter that the run was started with, before there are rows: the name of
// a saved one, or a filter of the intents.
func (k *savedFilters) begin(text string) {
	text = string(api.Scrub(text))
	n, ok := k.preferences.named(text)
	if !ok {
		n = NamedFilter{Pane: layout.Intents.String(), Text: text}
	}
	if _, err := k.show(n); err != nil {
		k.notices.say(warning, "the filter "+text+" is not applied: "+err.Error())
	}
}
