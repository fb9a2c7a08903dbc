package dashboard

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// verbs are what the palette takes with words behind it, and short names of
// actions.
func (m *Model) verbs() []dialog.Verb {
	verbs := []dialog.Verb{
		{Name: "theme", Takes: "NAME", Tooltip: "Changes to a theme, as the theme key does to the next.", Offers: m.themes.names, Run: m.takeTheme},
		{Name: "filter", Takes: "TEXT", Tooltip: "Shows only the rows of this pane that match; without a text, all.", Free: true, Run: m.takeFilter},
		{Name: "sort", Takes: "COLUMN", Tooltip: "Sorts this pane by a column.", Offers: m.board.orders, Run: m.takeOrder},
		{Name: "i", Takes: "ID", Tooltip: "Opens the intent, shipment or event of an id, or of its beginning or end.", Free: true, Run: m.takeID},
		{Name: "at", Takes: "POSITION", Tooltip: "Opens a position, as in intent:ci_…, order:REFERENCE, filter:TEXT or failures.", Free: true, Run: m.positions.take},
	}
	if _, ok := m.cfg.Actions.Action(action.Export); ok {
		verbs = append(verbs, dialog.Verb{Name: "export", Takes: "FORM", Tooltip: "Writes or copies the intent under the cursor, to hand it on.", Offers: exportNames, Run: m.exporting.named})
	}
	if _, ok := m.cfg.Actions.Action(action.Reconnect); ok {
		verbs = append(verbs, dialog.Verb{Name: "relay", Takes: "reconnect", Tooltip: "Reconnects to a lost relay now.",
			Offers: func() []string { return []string{"reconnect"} }, Run: m.short("relay", action.Reconnect)})
	}
	if m.cfg.Transport == nil {
		verbs = append(verbs, dialog.Verb{Name: "profile", Takes: "NAME", Tooltip: "Gives the screen to another account of the configuration.",
			Offers: m.profiles, Run: m.switchTo})
	}
	for _, alias := range []struct {
		name string
		id   action.ID
	}{{"q", action.Quit}, {"quota", action.Usage}, {"pulse", "pulse"}} {
		if a, ok := m.cfg.Actions.Action(alias.id); ok {
			verbs = append(verbs, dialog.Verb{Name: alias.name, Tooltip: a.Tooltip, Run: m.short(alias.name, alias.id)})
		}
	}
	return append(verbs, m.filterVerbs()...)
}

// filterVerbs are those that keep filters, and the name of each that is kept.
func (m *Model) filterVerbs() []dialog.Verb {
	verbs := []dialog.Verb{
		{Name: "save", Takes: "NAME", Free: true, Offers: m.preferences.filterNames, Run: func(name string) (tea.Cmd, error) { return nil, m.kept.save(name, m.verbCalled(name)) },
			Tooltip: "Keeps the filter of this pane under a name, which then is a word of the palette, as in :late."},
		{Name: "forget", Takes: "NAME", Free: true, Offers: m.preferences.filterNames, Run: func(name string) (tea.Cmd, error) { return nil, m.kept.forget(name) },
			Tooltip: "Keeps the filter of a name no longer."},
	}
	for _, n := range m.preferences.Filters {
		verbs = append(verbs, dialog.Verb{Name: n.Name, Means: "/ " + n.Text, Tooltip: "Filters " + n.Pane + " by " + n.Text,
			Run: func(string) (tea.Cmd, error) { return nil, m.kept.show(n) }})
	}
	return verbs
}

// verbCalled reports whether a name is a word of the palette that is no filter's.
func (m *Model) verbCalled(name string) bool {
	_, filter := m.preferences.named(name)
	return !filter && slices.ContainsFunc(m.verbs(), func(v dialog.Verb) bool { return strings.EqualFold(v.Name, name) })
}

// short does an action by a verb of its own. A pane of that name that has the whole
// screen already keeps it.
func (m *Model) short(name string, id action.ID) func(string) (tea.Cmd, error) {
	return func(string) (tea.Cmd, error) {
		if reason := m.disabled(id); reason != "" {
			return nil, errors.New(reason)
		}
		if m.board.zoom && m.board.focus.String() == name {
			return nil, nil // the action would close it
		}
		return m.do(id), nil
	}
}

// say does what was said in the palette. Words that are refused can be mended
// there.
func (m *Model) say(v *dialog.Verb, words string) tea.Cmd {
	palette, _ := m.dialog.shown.(*dialog.Palette)
	m.dialog.close()
	cmd, err := v.Run(words)
	if err != nil {
		palette.Refuse(err.Error())
		m.dialog.shown = palette
		return nil
	}
	m.preferences.ran(memorable(v.Name, words))
	return cmd
}

// longestKept bounds a word of a filter that is remembered, in bytes: a longer one
// may be a key.
const longestKept = 24

// memorable is what is said, as it is remembered: without words that may be a
// buyer's or a secret.
func memorable(name, words string) string {
	filter := name == "filter" || strings.Contains(words, "filter:")
	for word := range strings.FieldsSeq(words) {
		if strings.Contains(word, "@") || filter && len(word) > longestKept {
			return name
		}
	}
	return strings.TrimSpace(name + " " + words)
}

func (m *Model) takeTheme(name string) (tea.Cmd, error) {
	m.themes.choose(name)
	m.restyle()
	m.notices.say(plain, "theme: "+m.themes.chosen.Name)
	return nil, nil
}

func (m *Model) takeFilter(text string) (tea.Cmd, error) {
	at := m.board.focus
	if reason := m.disabled(action.Filter); reason != "" {
		return nil, errors.New(reason)
	}
	if len(text) > longestFilter {
		return nil, errors.New(tooLongFilter())
	}
	filter := pane.ParseFilter(text, m.board.panes[at].(filtered).Fields())
	if filter != nil && filter.Wrong != "" {
		return nil, errors.New(filter.Wrong)
	}
	m.filters.set(at, filter)
	if at == layout.Intents {
		m.board.intents.Stay()
	}
	return nil, nil
}

func (m *Model) takeOrder(name string) (tea.Cmd, error) {
	if reason := m.disabled(action.Sort); reason != "" {
		return nil, errors.New(reason)
	}
	m.board.sort(name, false)
	return nil, nil
}

func (m *Model) takeID(id string) (tea.Cmd, error) {
	if id == "" {
		return nil, errors.New("an id is needed, or its beginning or end")
	}
	return m.jump.to(id)
}
