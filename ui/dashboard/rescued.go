package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/job"
)

// rescued is the model that Bubble Tea runs. When something panics, it gives the terminal
// back before Bubble Tea prints the panic. While the terminal is lent, only Bubble Tea's
// loop stands still.
type rescued struct{ *Model }

// Init implements [tea.Model].
func (r rescued) Init() tea.Cmd { return r.command(r.Model.Init()) }

// Update implements [tea.Model].
func (r rescued) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer r.canvas.Rescue()
	if lent, ok := msg.(job.LentMsg); ok {
		return r, r.command(lent.Run())
	}
	_, command := r.Model.Update(msg)
	return r, r.command(command)
}

// View implements [tea.Model].
func (r rescued) View() tea.View {
	defer r.canvas.Rescue()
	return r.Model.View()
}

func (r rescued) command(command tea.Cmd) tea.Cmd {
	if command == nil {
		return nil
	}
	return func() tea.Msg {
		defer r.canvas.Rescue()
		msg := command()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = r.command(batch[i])
			}
		}
		return msg
	}
}
