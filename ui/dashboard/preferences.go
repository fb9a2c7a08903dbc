package dashboard

import (
	"maps"
	"slices"

	"tillwatch/api"
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
	ByOrder     bool                `json:"by_order,omitempty"`    // intents are grouped by order
	NoMouse     bool                `json:"no_mouse,omitempty"`
	Acquainted  bool                `json:"acquainted,omitempty"` // the hints for a first run were seen
	Filters     []NamedFilter       `json:"filters,omitempty"`
	Ran         []string            `json:"-"` // by the palette, the newest first; without secrets and personal data
}

// clone shares nothing with l.
func (l Layout) clone() Layout {
	l.Hidden, l.Columns, l.Ran = slices.Clone(l.Hidden), maps.Clone(l.Columns), slices.Clone(l.Ran)
	l.Filters = slices.Clone(l.Filters)
	return l
}

// preferences is the remembered Layout, as it is now.
type preferences struct {
	Layout
	remember func(Layout) // nil: nobody remembers it
}

func newPreferences(l Layout, remember func(Layout)) *preferences {
	p := &preferences{l.clone(), remember}
	p.Ran, p.Filters = ranLines(p.Ran), usableFilters(p.Filters)
	if p.hidesAll() {
		p.Hidden = nil
	}
	return p
}

// keep has the preferences remembered.
func (p *preferences) keep() {
	if p.remember != nil {
		p.remember(p.clone())
	}
}

// mostRan and longestRan bound what is remembered of the palette: lines, and the
// bytes of one.
const (
	mostRan    = 50
	longestRan = 200
)

// ran notes what the palette ran, each line once.
func (p *preferences) ran(line string) {
	p.Ran = ranLines(append([]string{line}, p.Ran...))
	p.keep()
}

// ranLines are the lines of a history that can be shown, each once.
func ranLines(lines []string) (kept []string) {
	for _, line := range lines {
		if line = string(api.Scrub(line)); line != "" && len(line) <= longestRan && len(kept) < mostRan && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// hidden are the panes that are not on the screen.
func (p *preferences) hidden() layout.Hidden {
	var h layout.Hidden
	for _, pane := range layout.Hideable() {
		h[pane] = slices.Contains(p.Hidden, pane.String())
	}
	return h
}

// hidesAll reports whether no pane would be on the screen: but for the pulse, which
// has no place on many.
func (p *preferences) hidesAll() bool {
	h := p.hidden()
	h[layout.Pulse] = true
	return h.All()
}

// toggle takes a pane off the screen, or brings it back. It reports false where
// that would leave none.
func (p *preferences) toggle(pane layout.Pane) bool {
	before := p.Hidden
	p.Hidden = toggled(p.Hidden, layout.Place(pane).String())
	if p.hidesAll() {
		p.Hidden = before
		return false
	}
	return true
}

// setColumns notes which columns of a pane are left out.
func (p *preferences) setColumns(pane string, hidden []string) {
	columns := maps.Clone(p.Columns)
	if columns == nil {
		columns = map[string][]string{}
	}
	columns[pane] = hidden
	if len(hidden) == 0 {
		delete(columns, pane)
	}
	p.Columns = columns
}

// arrangement is the chosen one.
func (p *preferences) arrangement() layout.Arrangement {
	for _, a := range layout.Arrangements() {
		if a != layout.BySize && a.String() == p.Arrangement {
			return a
		}
	}
	return layout.BySize
}

func (p *preferences) setArrangement(a layout.Arrangement) {
	p.Arrangement = a.String()
	if a == layout.BySize {
		p.Arrangement = ""
	}
}

// toggled is a list of names without a name, or with it.
func toggled(names []string, name string) []string {
	if at := slices.Index(names, name); at >= 0 {
		return slices.Delete(slices.Clone(names), at, at+1)
	}
	return append(slices.Clone(names), name)
}
