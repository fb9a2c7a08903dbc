package dashboard

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(term.File)
	return ok && term.IsTerminal(file.Fd())
}

// sizeOf asks the terminal behind out for its size.
func sizeOf(out any) (size tea.WindowSizeMsg, known bool) {
	if !isTerminal(out) {
		return size, false
	}
	width, height, err := term.GetSize(out.(term.File).Fd())
	return tea.WindowSizeMsg{Width: width, Height: height}, err == nil
}
