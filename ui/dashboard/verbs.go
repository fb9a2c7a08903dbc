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

// verbs are the palette's commands with arguments, and short names of actions.
type verbs struct {
	*shared
	filters   *filters
	saved     *savedFilters
	positions *positions
	exporting *exporting
	jump      *jump

	do       func(action.ID) tea.Cmd
	disabled func(action.ID) string // says why an action cannot be performed now; "" if it can
	restyle  func()                 // applies the theme
}

// all returns the verbs that are available now.
func (v *verbs) all() []dialog.Verb {
	all := []dialog.Verb{
		{Name: "theme", Argument: "NAME", Tooltip: "Changes to a theme, or with auto to the configured one.", Offers: v.themes.offers, Run: v.setTheme},
		{Name: "filter", Argument: "TEXT", Tooltip: "Shows only the rows of this pane that match; without a text, all.", Free: true, Run: v.setFilter},
		{Name: "sort", Argument: "COLUMN", Tooltip: "Sorts this pane by a column.", Offers: v.board.orders, Run: v.setOrder},
		{Name: "i", Argument: "ID", Tooltip: "Opens the intent, shipment or event of an id, or of its beginning or end.", Free: true, Run: v.openID},
		{Name: "at", Argument: "POSITION", Tooltip: "Opens a position, as in intent:ci_…, order:REFERENCE, filter:TEXT or failures.", Free: true, Run: v.positions.openText},
	}
	if _, ok := v.cfg.Actions.Action(action.Export); ok {
		all = append(all, dialog.Verb{Name: "export", Argument: "FORM", Tooltip: "Writes the intent under the cursor to a file.", Offers: exportNames, Run: v.exporting.named})
	}
	if _, ok := v.cfg.Actions.Action(action.Reconnect); ok {
		all = append(all, dialog.Verb{Name: "relay", Argument: "reconnect", Tooltip: "Reconnects to a lost relay now.",
			Offers: func() []string { return []string{"reconnect"} }, Run: v.short("relay", action.Reconnect)})
	}
	for _, alias := range []struct {
		name string
		id   action.ID
	}{{"q", action.Quit}, {"quota", action.Usage}, {"pulse", action.Pulse}} {
		if a, ok := v.cfg.Actions.Action(alias.id); ok {
			all = append(all, dialog.Verb{Name: alias.name, Tooltip: a.Tooltip, Run: v.short(alias.name, alias.id)})
		}
	}
	return append(all, v.ofFilters()...)
}

// ofFilters returns the verbs that save and forget filters, and one for each saved filter.
func (v *verbs) ofFilters() []dialog.Verb {
	all := []dialog.Verb{
		{Name: "save", Argument: "NAME", Free: true, Offers: v.preferences.filterNames,
			Run:     func(name string) (tea.Cmd, error) { return nil, v.saved.save(name, v.called(name)) },
			Tooltip: "Saves this pane's filter under a name, which becomes a word of the palette, as in :late."},
		{Name: "forget", Argument: "NAME", Free: true, Offers: v.preferences.filterNames,
			Run:     func(name string) (tea.Cmd, error) { return nil, v.saved.forget(name) },
			Tooltip: "Deletes a saved filter."},
	}
	for _, n := range v.preferences.Filters {
		all = append(all, dialog.Verb{Name: n.Name, Means: "/ " + n.Text, Tooltip: "Filters " + n.Pane + " by " + n.Text,
			Run: func(string) (tea.Cmd, error) { return v.saved.show(n) }})
	}
	return all
}

// called reports whether a name is a verb or an action, other than a saved filter.
func (v *verbs) called(name string) bool {
	_, filter := v.preferences.named(name)
	if _, does := v.cfg.Actions.Action(action.ID(strings.ToLower(name))); does {
		return true
	}
	return !filter && slices.ContainsFunc(v.all(), func(verb dialog.Verb) bool { return strings.EqualFold(verb.Name, name) })
}

// short returns what runs the verb of an action. If the pane of that name fills the screen
// already, the verb does nothing.
func (v *verbs) short(name string, id action.ID) func(string) (tea.Cmd, error) {
	return func(string) (tea.Cmd, error) {
		if reason := v.disabled(id); reason != "" {
			return nil, errors.New(reason)
		}
		if (v.board.zoom || layout.IsView(v.board.focus)) && v.board.focus.String() == name {
			return nil, nil // the action would close it
		}
		return v.do(id), nil
	}
}

// run runs a verb with its arguments. If they are refused, the palette stays open to
// correct them.
func (v *verbs) run(verb *dialog.Verb, argument string) tea.Cmd {
	palette, _ := v.dialog.shown.(*dialog.Palette)
	v.dialog.close()
	cmd, err := verb.Run(argument)
	if err != nil {
		palette.Refuse(err.Error())
		v.dialog.shown = palette
		return nil
	}
	return cmd
}

func (v *verbs) setTheme(name string) (tea.Cmd, error) {
	v.themes.choose(name)
	v.restyle()
	v.notices.say(plain, "theme: "+v.themes.chosen.Name)
	return nil, nil
}

func (v *verbs) setFilter(text string) (tea.Cmd, error) {
	at := v.board.focus
	if reason := v.disabled(action.Filter); reason != "" {
		return nil, errors.New(reason)
	}
	if tooLong(text) {
		return nil, errors.New(tooLongFilter())
	}
	filter := pane.ParseFilter(text, v.board.panes[at].(filtered).Fields())
	if filter != nil && filter.Wrong != "" {
		return nil, errors.New(filter.Wrong)
	}
	cmd := v.filters.use(at, filter)
	if at == layout.Intents {
		v.board.intents.Stay()
	}
	return cmd, nil
}

func (v *verbs) setOrder(name string) (tea.Cmd, error) {
	if reason := v.disabled(action.Sort); reason != "" {
		return nil, errors.New(reason)
	}
	v.board.sort(name, false)
	return nil, nil
}

func (v *verbs) openID(id string) (tea.Cmd, error) {
	if id == "" {
		return nil, errors.New("an id is needed, or its beginning or end")
	}
	return v.jump.to(id)
}
