package dashboard

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// ExportForm is the form of an exported intent.
type ExportForm string

// The forms.
const (
	Markdown ExportForm = "Markdown"
	JSON     ExportForm = "JSON"
)

// Exporter exports intents. Update never calls it directly.
type Exporter interface {
	// Save writes an intent to a new file, with the buyer if personal is true, and returns its path.
	Save(id api.ID, form ExportForm, personal bool) (path string, err error)
}

// export is a way to export an intent.
type export struct {
	name  string // in the palette
	title string
	about string
	form  ExportForm
}

// exports lists the ways, most useful first.
func exports() []export {
	return []export{
		{"md", "Markdown file", "State, timeline, offer, shipments, failure and request ids, for a colleague or the service's support. The path is copied.", Markdown},
		{"json", "JSON file", "The whole intent, as printed by tillwatch intent --json. The path is copied.", JSON},
	}
}

// exporting exports the intent under the cursor.
type exporting struct{ *shared }

// exportedMsg is the result of an export.
type exportedMsg struct {
	export
	path     string
	personal bool
	err      error
}

// named exports the intent under the cursor in the named way.
func (x *exporting) named(name string) (tea.Cmd, error) {
	if reason := x.disabled(); reason != "" {
		return nil, errors.New(reason)
	}
	for _, e := range exports() {
		if e.name == name {
			return x.as(e), nil
		}
	}
	return nil, errors.New("export takes " + strings.Join(exportNames(), ", ") + "; not " + name)
}

func exportNames() (names []string) {
	for _, e := range exports() {
		names = append(names, e.name)
	}
	return names
}

// as exports in one of [exports]. It includes only the buyer's data visible at this
// moment.
func (x *exporting) as(e export) tea.Cmd {
	in, ok := x.board.intentUnder()
	if !ok {
		return nil
	}
	personal := x.board.focus == layout.Detail && x.board.detail.Subject().Kind == pane.OfIntent && x.board.detail.Revealed()
	with, id := x.cfg.Exporter, in.ID
	return func() tea.Msg {
		path, err := with.Save(id, e.form, personal)
		return exportedMsg{e, path, personal, err}
	}
}

// done reports an export, and copies its path.
func (x *exporting) done(ctx context.Context, msg exportedMsg) tea.Cmd {
	kind, what := success, string(msg.form)
	if msg.personal {
		kind, what = warning, what+" with the buyer's personal data"
	}
	if msg.err != nil {
		x.notices.say(warning, "not exported: "+msg.err.Error())
		return nil
	}
	return x.clipboard.copy(ctx, copying{text: msg.path, kind: kind, before: what + " written, ", after: " its path: " + msg.path})
}

// offer opens the menu of ways.
func (x *exporting) offer() {
	var items []dialog.Item
	for _, e := range exports() {
		items = append(items, dialog.Item{Title: e.title, Note: e.name, About: e.about, Do: func() tea.Cmd { return x.as(e) }})
	}
	x.dialog.shown = dialog.NewMenu("Export the intent", "export", action.ExportAs, items)
}

func (x *exporting) disabled() string {
	switch _, ok := x.board.intentUnder(); {
	case x.cfg.Exporter == nil:
		return "nothing can be exported here"
	case !ok:
		return "no intent under the cursor"
	}
	return ""
}
