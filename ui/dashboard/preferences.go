package dashboard

import (
	"slices"

	"tillwatch/ui/dashboard/layout"
)

// Layout is how a person has arranged the screen, remembered between runs. The zero Layout
// is the default. Unknown names are ignored, and so is Hidden if it would hide every pane.
type Layout struct {
	Hidden     []string      `json:"hidden,omitempty"`     // panes
	Theme      string        `json:"theme,omitempty"`      // "": the configured one
	ByOrder    bool          `json:"by_order,omitempty"`   // intents are grouped by order
	NoMouse    bool          `json:"no_mouse,omitempty"`   // the mouse belongs to the terminal
	Acquainted bool          `json:"acquainted,omitempty"` // the hints of the first run were shown
	Filters    []NamedFilter `json:"filters,omitempty"`    // saved filters
}

// clone returns a deep copy.
func (l Layout) clone() Layout {
	l.Hidden, l.Filters = slices.Clone(l.Hidden), slices.Clone(l.Filters)
	return l
}

// preferences is the current Layout.
type preferences struct {
	Layout
	remember func(Layout) // saves it; nil: it is not saved
}

func newPreferences(l Layout, remember func(Layout)) *preferences {
	p := &preferences{l.clone(), remember}
	p.Filters = UsableFilters(p.Filters)
	if p.hidden().All() {
		p.Hidden = nil
	}
	return p
}

// keep saves the preferences.
func (p *preferences) keep() {
	if p.remember != nil {
		p.remember(p.clone())
	}
}

// hidden returns the hidden panes.
func (p *preferences) hidden() layout.Hidden {
	var h layout.Hidden
	for _, pane := range layout.Hideable() {
		h[pane] = slices.Contains(p.Hidden, pane.String())
	}
	return h
}

// toggle hides a pane or shows it again. It returns false if that would hide every pane.
func (p *preferences) toggle(pane layout.Pane) bool {
	before := p.Hidden
	p.Hidden = toggled(p.Hidden, layout.Place(pane).String())
	if p.hidden().All() {
		p.Hidden = before
		return false
	}
	return true
}

// toggled removes a name from a list, or adds it.
func toggled(names []string, name string) []string {
	if at := slices.Index(names, name); at >= 0 {
		return slices.Delete(slices.Clone(names), at, at+1)
	}
	return append(slices.Clone(names), name)
}
