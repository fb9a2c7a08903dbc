package job

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(term.File)
	return ok && term.IsTerminal(file.Fd())
}

// SizeOf returns the size of the terminal behind out; ok is false if it is unknown.
func SizeOf(out any) (size tea.WindowSizeMsg, ok bool) {
	if !IsTerminal(out) {
		return size, false
	}
	width, height, err := term.GetSize(out.(term.File).Fd())
	return tea.WindowSizeMsg{Width: width, Height: height}, err == nil
}
