package dashboard

import (
	"maps"
	"slices"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
)

// Layout is how a person has arranged the screen, to be remembered between runs.
// The zero Layout is the dashboard's own. Names that mean nothing are ignored, and
// so is Hidden where it would leave no pane.
type Layout struct {
	Arrangement string              `json:"arrangement,omitempty"` // "wide", "medium" or "narrow"; "" follows the size
	Hidden      []string            `json:"hidden,omitempty"`      // panes
	Columns     map[string][]string `json:"columns,omitempty"`     // that are left out, by pane
	Theme       string              `json:"theme,omitempty"`       // "" is the configured one
	NoMouse     bool                `json:"no_mouse,omitempty"`
	Acquainted  bool                `json:"acquainted,omitempty"` // the hints for a first run were seen
}

// recall arranges the screen as it is remembered.
func (m *Model) recall(l Layout) {
	m.arranged = l
	m.arranged.Hidden, m.arranged.Columns = slices.Clone(l.Hidden), maps.Clone(l.Columns)
	if m.hidesAll() {
		m.arranged.Hidden = nil
	}
	m.noMouse = m.cfg.NoMouse || l.NoMouse
	if at := m.themeAt(l.Theme); at >= 0 {
		m.theme = m.cfg.Themes[at]
	}
	for name, columns := range l.Columns {
		if p, ok := m.columned(name); ok {
			p.Hide(columns)
		}
	}
}

// remember tells how the screen is arranged now.
func (m *Model) remember() {
	m.redraw = true
	if m.cfg.Remember != nil {
		l := m.arranged
		l.Hidden, l.Columns = slices.Clone(l.Hidden), maps.Clone(l.Columns)
		m.cfg.Remember(l)
	}
}

// columned is a pane that can leave columns out.
type columned interface {
	Columns() []string
	Hidden() []string
	Hide(columns []string)
}

func (m *Model) columned(name string) (columned, bool) {
	for i, p := range m.panes {
		if layout.Pane(i).String() == name {
			p, ok := p.(columned)
			return p, ok
		}
	}
	return nil, false
}

// toggleColumn leaves a column of a pane out, or shows it again.
func (m *Model) toggleColumn(name, column string) {
	p, ok := m.columned(name)
	if !ok || !slices.Contains(p.Columns(), column) {
		return
	}
	hidden := toggled(p.Hidden(), column)
	p.Hide(hidden)
	columns := maps.Clone(m.arranged.Columns)
	if columns == nil {
		columns = map[string][]string{}
	}
	columns[name] = hidden
	if len(hidden) == 0 {
		delete(columns, name)
	}
	m.arranged.Columns = columns
	m.remember()
}

// toggled is a list of names without a name, or with it.
func toggled(names []string, name string) []string {
	if at := slices.Index(names, name); at >= 0 {
		return slices.Delete(slices.Clone(names), at, at+1)
	}
	return append(slices.Clone(names), name)
}

// hidden are the panes that are not on the screen.
func (m *Model) hidden() layout.Hidden {
	var h layout.Hidden
	for _, p := range layout.Hideable() {
		h[p] = slices.Contains(m.arranged.Hidden, p.String())
	}
	return h
}

// hidesAll reports whether no pane would be on the screen.
func (m *Model) hidesAll() bool { return m.hidden() == (layout.Hidden{true, true, true, true}) }

// togglePane takes a pane off the screen, or brings it back. One always stays.
func (m *Model) togglePane(p layout.Pane) {
	hidden := toggled(m.arranged.Hidden, p.String())
	before := m.arranged.Hidden
	m.arranged.Hidden = hidden
	if m.hidesAll() {
		m.arranged.Hidden = before
		m.say(warning, "this is the only pane left: show another one first")
		return
	}
	if m.hidden().Has(m.focus) {
		m.focusBy(1)
	} else {
		m.arrange()
	}
	if m.hidden().Has(p) {
		m.say(plain, p.String()+" hidden; "+m.keyOf(toggling[p])+" shows the pane again")
	}
	m.remember()
}

var toggling = [...]action.ID{layout.Intents: action.ToggleIntents, layout.Shipments: action.ToggleShipments,
	layout.Quota: action.ToggleQuota, layout.Events: action.ToggleEvents}

// keyOf is the key of an action as it is shown, or its name where it has none.
func (m *Model) keyOf(id action.ID) string {
	if a, ok := m.cfg.Actions.Action(id); ok && a.Key() != "" {
		return a.Key()
	}
	return string(id)
}

// arrangement is the chosen one.
func (m *Model) arrangement() layout.Arrangement {
	for _, a := range layout.Arrangements() {
		if a != layout.BySize && a.String() == m.arranged.Arrangement {
			return a
		}
	}
	return layout.BySize
}

// setArrangement lays the panes out anew, and says so where there is no room for
// it.
func (m *Model) setArrangement(a layout.Arrangement) {
	m.arranged.Arrangement = a.String()
	if a == layout.BySize {
		m.arranged.Arrangement = ""
	}
	m.arrange()
	switch is := m.layout.Arrangement; {
	case a == layout.BySize:
		m.say(plain, "arranged by the size of the terminal: "+is.String())
	case is != a:
		m.say(warning, "no room for "+a.String()+": "+is.String()+" until there is")
	default:
		m.say(plain, "arranged: "+a.String())
	}
	m.remember()
}

// toggleZoom gives the whole place to the focused pane, or gives it back.
func (m *Model) toggleZoom() {
	m.zoom, m.zoomed = !m.zoom, m.focus
	m.arrange()
}

func (m *Model) nextArrangement() {
	all := layout.Arrangements()
	m.setArrangement(all[(slices.Index(all, m.arrangement())+1)%len(all)])
}

func (m *Model) themeAt(name string) int {
	return slices.IndexFunc(m.cfg.Themes, func(t themes.Theme) bool { return t.Name == name })
}

// setTheme changes to one of the themes; "" is the configured one.
func (m *Model) setTheme(name string) {
	if at := m.themeAt(name); at >= 0 {
		m.theme = m.cfg.Themes[at]
	} else {
		name, m.theme = "", m.configuredTheme()
	}
	m.arranged.Theme = name
	m.restyle()
	m.remember()
}

// showPane brings a pane back that was taken off the screen.
func (m *Model) showPane(p layout.Pane) {
	if m.hidden().Has(p) {
		m.arranged.Hidden = toggled(m.arranged.Hidden, layout.Place(p).String())
		m.remember()
	}
}
