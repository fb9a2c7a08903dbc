package dashboard

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
)

// openBoard opens the dialog in which the board is arranged.
func (m *Model) openBoard() {
	m.dialog = dialogs{board: dialog.NewBoard(m.themes.current(), m.boardChoices())}
}

// What a choice of the dialog is about, before the name that it chooses.
const (
	choosesPane        = "pane "
	choosesArrangement = "arrangement "
	choosesTheme       = "theme "
	choosesColumn      = "column "
)

// boardChoices is what can be chosen, and what is.
func (m *Model) boardChoices() []dialog.Choices {
	panes := dialog.Choices{Title: "Panes"}
	for i, p := range layout.Hideable() {
		panes.Options = append(panes.Options, dialog.Option{
			ID: choosesPane + p.String(), Title: paneTitle(p), Key: string(rune('1' + i)), On: !m.preferences.hidden().Has(p),
		})
	}
	arrangements := dialog.Choices{Title: "Arrangement", One: true}
	for _, a := range layout.Arrangements() {
		arrangements.Options = append(arrangements.Options, dialog.Option{
			ID: choosesArrangement + a.String(), Title: a.String(), On: m.preferences.arrangement() == a,
		})
	}
	choices := []dialog.Choices{panes, arrangements}
	for i, p := range m.board.panes {
		p, ok := p.(columned)
		if !ok || len(p.Columns()) == 0 {
			continue
		}
		name := layout.Pane(i).String()
		columns := dialog.Choices{Title: "Columns of " + name}
		for _, column := range p.Columns() {
			columns.Options = append(columns.Options, dialog.Option{
				ID: choosesColumn + name + " " + column, Title: column, On: !slices.Contains(p.Hidden(), column),
			})
		}
		choices = append(choices, columns)
	}
	looks := dialog.Choices{Title: "Theme", One: true}
	looks.Options = append(looks.Options, dialog.Option{ID: choosesTheme, Title: "as configured", On: m.preferences.Theme == ""})
	for _, t := range m.cfg.Themes {
		looks.Options = append(looks.Options, dialog.Option{ID: choosesTheme + t.Name, Title: t.Name, On: m.preferences.Theme == t.Name})
	}
	return append(choices, looks)
}

func paneTitle(p layout.Pane) string {
	if p == layout.Events {
		return "events, requests, alerts"
	}
	return p.String()
}

// boardKey gives a key to the dialog. The key that opened it closes it.
func (m *Model) boardKey(key tea.KeyPressMsg) {
	chosen, closed := m.dialog.board.Key(key)
	if a, _ := m.cfg.Actions.Lookup(m.scope(), key); a.ID == action.Arrange {
		closed = true
	}
	m.onBoard(chosen, closed)
}

func (m *Model) onBoard(chosen string, closed bool) {
	switch {
	case closed:
		m.dialog = dialogs{}
	case chosen != "":
		m.chooseOnBoard(chosen)
	}
}

// chooseOnBoard does what an option of the dialog stands for. The dialog stays,
// so that it can be seen and taken back.
func (m *Model) chooseOnBoard(id string) {
	kind, name, _ := strings.Cut(id, " ")
	switch kind + " " {
	case choosesPane:
		for _, p := range layout.Hideable() {
			if p.String() == name {
				m.board.togglePane(p)
			}
		}
	case choosesArrangement:
		for _, a := range layout.Arrangements() {
			if a.String() == name {
				m.board.setArrangement(a)
			}
		}
	case choosesTheme:
		m.themes.choose(name)
		m.restyle()
	case choosesColumn:
		of, column, _ := strings.Cut(name, " ")
		m.board.toggleColumn(of, column)
	}
	m.dialog.board.SetChoices(m.boardChoices())
}
