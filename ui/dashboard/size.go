package dashboard

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// sizeMsg tells the size of the screen, in cells.
type sizeMsg struct{ width, height int }

// librarySize is as wide and as high as the library takes the screen to be: it
// draws nothing on it.
const librarySize = 1

// keepSizes keeps the size of the screen from the library, whose renderer would
// empty it.
func keepSizes(_ tea.Model, msg tea.Msg) tea.Msg {
	size, ok := msg.(tea.WindowSizeMsg)
	switch {
	case !ok:
		return msg
	case size == tea.WindowSizeMsg{Width: librarySize, Height: librarySize}: // its own
		return nil
	}
	return sizeMsg{size.Width, size.Height}
}

// resize takes a new size of the screen.
func (m *Model) resize(size sizeMsg) {
	m.width, m.height = size.width, size.height
	if m.canvas != nil {
		m.canvas.Resize(m.width, m.height)
	}
	m.arrange()
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(term.File)
	return ok && term.IsTerminal(file.Fd())
}

// keepModes notes how the terminal behind in is set up, for restore to set it up
// so again.
func keepModes(in any) (restore func()) {
	if !isTerminal(in) {
		return func() {}
	}
	fd := in.(term.File).Fd()
	modes, err := term.GetState(fd)
	if err != nil {
		return func() {}
	}
	return func() {
		if inForeground(in) { // else it is the shell's, and set up already
			_ = term.Restore(fd, modes)
		}
	}
}

// sizeOf asks the terminal behind out for its size.
func sizeOf(out any) (size sizeMsg, known bool) {
	if !isTerminal(out) {
		return size, false
	}
	width, height, err := term.GetSize(out.(term.File).Fd())
	return sizeMsg{width, height}, err == nil
}
