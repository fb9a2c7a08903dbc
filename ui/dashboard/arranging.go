package dashboard

import (
	"slices"
	"strings"

	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
)

// arranging offers what can be arranged, and applies choices.
type arranging struct{ *shared }

// Prefixes of the dialog's option names.
const (
	choosesPane        = "pane "
	choosesArrangement = "arrangement "
	choosesTheme       = "theme "
	choosesColumn      = "column "
)

// choices are the options and their current state.
func (a arranging) choices() []dialog.Choices {
	panes := dialog.Choices{Title: "Panes"}
	for i, p := range layout.Hideable() {
		panes.Options = append(panes.Options, dialog.Option{
			ID: choosesPane + p.String(), Title: a.title(p), Key: string(rune('1' + i)), On: !a.preferences.hidden().Has(p),
		})
	}
	arrangements := dialog.Choices{Title: "Arrangement", One: true}
	for _, arrangement := range layout.Arrangements() {
		arrangements.Options = append(arrangements.Options, dialog.Option{
			ID: choosesArrangement + arrangement.String(), Title: arrangement.String(), On: a.preferences.arrangement() == arrangement,
		})
	}
	all := []dialog.Choices{panes, arrangements}
	for i, p := range a.board.panes {
		p, ok := p.(columned)
		if !ok || len(p.Columns()) == 0 || !a.board.delivers(layout.Pane(i)) {
			continue
		}
		name := layout.Pane(i).String()
		columns := dialog.Choices{Title: "Columns of " + name}
		for _, column := range p.Columns() {
			columns.Options = append(columns.Options, dialog.Option{
				ID: choosesColumn + name + " " + column, Title: column, On: !slices.Contains(p.Hidden(), column),
			})
		}
		all = append(all, columns)
	}
	looks := dialog.Choices{Title: "Theme", One: true}
	looks.Options = append(looks.Options, dialog.Option{ID: choosesTheme, Title: "as configured", On: a.preferences.Theme == ""})
	for _, t := range a.cfg.Themes {
		looks.Options = append(looks.Options, dialog.Option{ID: choosesTheme + t.Name, Title: t.Name, On: a.preferences.Theme == t.Name})
	}
	return append(all, looks)
}

func (a arranging) title(p layout.Pane) string {
	switch {
	case p == layout.Events && a.board.delivers(layout.Deliveries):
		return "events, requests, alerts, deliveries"
	case p == layout.Events:
		return "events, requests, alerts"
	}
	return p.String()
}

// choose applies an option of the dialog.
func (a arranging) choose(id string) {
	kind, name, _ := strings.Cut(id, " ")
	switch kind + " " {
	case choosesPane:
		for _, p := range layout.Hideable() {
			if p.String() == name {
				a.board.togglePane(p)
			}
		}
	case choosesArrangement:
		for _, arrangement := range layout.Arrangements() {
			if arrangement.String() == name {
				a.board.setArrangement(arrangement)
			}
		}
	case choosesTheme:
		a.themes.choose(name)
	case choosesColumn:
		of, column, _ := strings.Cut(name, " ")
		a.board.toggleColumn(of, column)
	}
}
