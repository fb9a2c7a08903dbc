package dashboard

import (
	"cmp"
	"slices"

	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
)

// arranging offers what can be arranged, and applies choices.
type arranging struct{ *shared }

// choices are the options and their current state.
func (a arranging) choices() []dialog.Choices {
	panes := dialog.Choices{Title: "Panes"}
	for i, p := range layout.Hideable() {
		panes.Options = append(panes.Options, dialog.Option{
			Title: title(p), Key: string(rune('1' + i)), On: !a.preferences.hidden().Has(p), Choose: func() { a.board.togglePane(p) },
		})
	}
	arrangements := dialog.Choices{Title: "Arrangement", One: true}
	for _, to := range layout.Arrangements() {
		arrangements.Options = append(arrangements.Options, dialog.Option{
			Title: to.String(), On: a.preferences.arrangement() == to, Choose: func() { a.board.setArrangement(to) },
		})
	}
	all := []dialog.Choices{panes, arrangements}
	for i, p := range a.board.panes {
		if len(p.Columns()) == 0 {
			continue
		}
		columns := dialog.Choices{Title: "Columns of " + layout.Pane(i).String()}
		for _, column := range p.Columns() {
			columns.Options = append(columns.Options, dialog.Option{
				Title: column, On: !slices.Contains(p.Hidden(), column), Choose: func() { a.board.toggleColumn(layout.Pane(i), column) },
			})
		}
		all = append(all, columns)
	}
	looks := dialog.Choices{Title: "Theme", One: true}
	for _, name := range append([]string{""}, a.themes.names()...) {
		looks.Options = append(looks.Options, dialog.Option{
			Title: cmp.Or(name, "as configured"), On: a.preferences.Theme == name, Choose: func() { a.themes.choose(name) },
		})
	}
	return append(all, looks)
}

func title(p layout.Pane) string {
	if p == layout.Events {
		return "events and tabs"
	}
	return p.String()
}
