package command

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/doctor"
)

// quickAnswer is how long a terminal may take to answer. One that is asked and says
// nothing is waited for by the library, for two seconds.
const quickAnswer = 1500 * time.Millisecond

// checkTerminal asks the terminal what it is, if there is one on both ends.
func (p *patient) checkTerminal(context.Context) []doctor.Finding {
	in, isIn := p.in.(*os.File)
	out, isOut := p.out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return doctor.Skip("there is none: stdin or stdout is a pipe or a file")
	}
	width, height, err := term.GetSize(out.Fd())
	if err != nil {
		return doctor.Findings(doctor.Warning, fmt.Sprintf("the terminal does not tell its size: %v", err), "the dashboard cannot be arranged", "try another terminal")
	}
	if os.Getenv("TERM") == "dumb" {
		return doctor.Findings(doctor.Note, "TERM is dumb", "nothing can be drawn on it: tillwatch prints a line for each change", "set TERM to what the terminal is")
	}
	what := fmt.Sprintf("%dx%d cells, %s (TERM=%s)", width, height, colours(colorprofile.Detect(out, os.Environ())), shownValue(os.Getenv("TERM")))
	if width < layout.MinWidth || height < layout.MinHeight {
		return doctor.Findings(doctor.Warning, what, fmt.Sprintf("the dashboard needs %dx%d", layout.MinWidth, layout.MinHeight), "make it larger, or the letters smaller")
	}
	began := time.Now()
	ground, err := lipgloss.BackgroundColor(in, out)
	switch took := time.Since(began); {
	case err != nil || took > quickAnswer:
		return doctor.Findings(doctor.Note, what+"; it answers no questions", "whether its ground is dark or light, and what it can do beyond xterm, is not known", "choose a theme with --theme, if this one suits it ill")
	case ground == nil:
		return doctor.Fine("%s; it answers in %d ms, but does not tell its ground", what, took.Milliseconds())
	case tea.BackgroundColorMsg{Color: ground}.IsDark():
		return doctor.Fine("%s; it answers in %d ms: its ground is dark", what, took.Milliseconds())
	default:
		return doctor.Fine("%s; it answers in %d ms: its ground is light", what, took.Milliseconds())
	}
}

func colours(p colorprofile.Profile) string {
	switch p {
	case colorprofile.TrueColor:
		return "16 million colours"
	case colorprofile.ANSI256:
		return "256 colours"
	case colorprofile.ANSI:
		return "16 colours"
	}
	return "no colours"
}
