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
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// NamedFilter is a filter of a pane that a person keeps under a name.
type NamedFilter struct {
	Name string `json:"name"`
	Pane string `json:"pane"`
	Text string `json:"text"`
}

// mostNamed bounds how many filters are kept.
const mostNamed = 50

// filterName is what a filter can be called: one word that the palette takes.
var filterName = regexp.MustCompile(`^[\pL\d][\pL\d_-]{0,23}$`)

// usableFilters are those of a list that can be shown, each name once.
func usableFilters(all []NamedFilter) (usable []NamedFilter) {
	for _, n := range all {
		n.Text = string(api.Scrub(n.Text))
		_, known := paneCalled(n.Pane)
		twice := slices.ContainsFunc(usable, func(other NamedFilter) bool { return other.Name == n.Name })
		if known && !twice && filterName.MatchString(n.Name) && n.Text != "" && len(n.Text) <= longestFilter && len(usable) < mostNamed {
			usable = append(usable, n)
		}
	}
	return usable
}

func paneCalled(name string) (layout.Pane, bool) {
	for p := range layout.Pane(layout.Panes) {
		if p.String() == name && p != layout.Detail {
			return p, true
		}
	}
	return 0, false
}

// named is the kept filter of a name.
func (p *preferences) named(name string) (n NamedFilter, ok bool) {
	at := slices.IndexFunc(p.Filters, func(n NamedFilter) bool { return n.Name == name })
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

// filterVerbs are those that keep filters, and the name of each that is kept.
func (m *Model) filterVerbs() []dialog.Verb {
	verbs := []dialog.Verb{
		{Name: "save", Takes: "NAME", Free: true, Offers: m.preferences.filterNames, Run: m.saveFilter,
			Tooltip: "Keeps the filter of this pane under a name, which then is a word of the palette, as in :late."},
		{Name: "forget", Takes: "NAME", Free: true, Offers: m.preferences.filterNames, Run: m.forgetFilter,
			Tooltip: "Keeps the filter of a name no longer."},
	}
	for _, n := range m.preferences.Filters {
		verbs = append(verbs, dialog.Verb{Name: n.Name, Means: "/ " + n.Text, Tooltip: "Filters " + n.Pane + " by " + n.Text,
			Run: func(string) (tea.Cmd, error) { return nil, m.filterBy(n) }})
	}
	return verbs
}

// saveFilter keeps the filter of the pane under a name.
func (m *Model) saveFilter(name string) (tea.Cmd, error) {
	at := m.board.behind()
	is := m.filters.inPane[at]
	switch taken := m.verbCalled(name); {
	case is == nil:
		return nil, errors.New("this pane has no filter to be kept: " + m.cfg.Actions.KeyOf(action.Filter) + " types one")
	case !filterName.MatchString(name):
		return nil, errors.New("a name is one word of at most 24 letters, digits and hyphens, as in late")
	case taken:
		return nil, errors.New(name + " means something else in the palette: choose another name")
	}
	p := m.preferences
	n, was := p.named(name)
	said := name + " is kept: / " + is.Text
	if was {
		said = name + " is replaced: / " + is.Text + ", it was / " + n.Text
	} else if len(p.Filters) >= mostNamed {
		return nil, fmt.Errorf("%d filters are kept, which is all that there is room for: forget one first", mostNamed)
	}
	p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(n NamedFilter) bool { return n.Name == name })
	p.Filters = append(p.Filters, NamedFilter{name, at.String(), is.Text})
	p.keep()
	m.notices.say(plain, said)
	return nil, nil
}

// verbCalled reports whether a name is a word of the palette that is no filter's.
func (m *Model) verbCalled(name string) bool {
	_, filter := m.preferences.named(name)
	return !filter && slices.ContainsFunc(m.verbs(), func(v dialog.Verb) bool { return strings.EqualFold(v.Name, name) })
}

func (m *Model) forgetFilter(name string) (tea.Cmd, error) {
	p := m.preferences
	n, ok := p.named(name)
	switch {
	case !ok && len(p.Filters) == 0:
		return nil, errors.New("no filter is kept: save NAME keeps that of this pane")
	case !ok:
		return nil, errors.New("no filter is called " + name + "; there are " + strings.Join(p.filterNames(), ", "))
	}
	p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(n NamedFilter) bool { return n.Name == name })
	p.keep()
	m.notices.say(plain, "forgotten: "+name+", / "+n.Text)
	return nil, nil
}

// filterBy filters a pane by a kept filter, and turns to it.
func (m *Model) filterBy(n NamedFilter) error {
	at, _ := paneCalled(n.Pane)
	p, ok := m.board.panes[at].(filtered)
	if !ok {
		return errors.New(n.Pane + " cannot be filtered")
	}
	f := pane.ParseFilter(n.Text, p.Fields())
	switch {
	case len(n.Text) > longestFilter:
		return errors.New(tooLongFilter())
	case f != nil && f.Wrong != "":
		return errors.New(f.Wrong)
	}
	m.turnTo(at)
	m.filters.set(at, f)
	m.board.intents.Stay()
	return nil
}

// WrongFilter says what in a filter of the intents is not understood; "" when all
// is.
func WrongFilter(text string) string {
	if len(text) > longestFilter {
		return tooLongFilter()
	}
	if f := pane.ParseFilter(text, pane.NewIntents(&pane.Look{}, api.ConfirmWindow).Fields()); f != nil {
		return f.Wrong
	}
	return ""
}

// beginFilter filters by what the run was started with: the name of a kept filter,
// or a filter of the intents.
func (m *Model) beginFilter(text string) {
	text = string(api.Scrub(text))
	n, ok := m.preferences.named(text)
	if !ok {
		n = NamedFilter{Pane: layout.Intents.String(), Text: text}
	}
	if err := m.filterBy(n); err != nil {
		m.notices.say(warning, "the filter "+text+" is not in force: "+err.Error())
	}
}
