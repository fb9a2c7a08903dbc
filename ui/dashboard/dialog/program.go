package dialog

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/paint"
)

// Program shows an own command, and asks whether it may run.
type Program struct {
	base
	command own.Command
	argv    []string
	yes     bool // the focus is on the yes
}

const programWidth = 100

// NewProgram opens the dialog. The focus is on the yes if ranBefore is true.
func NewProgram(command own.Command, argv []string, ranBefore bool) *Program {
	return &Program{command: command, argv: argv, yes: ranBefore}
}

// Command returns the command.
func (p *Program) Command() own.Command { return p.command }

// Argv returns the program and its arguments, as they are shown and run.
func (p *Program) Argv() []string { return p.argv }

// Key answers.
func (p *Program) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	p.said = ""
	switch key.String() {
	case "tab", "shift+tab", "left", "right", "h", "l":
		p.yes = !p.yes
	case "esc", "ctrl+c", "q":
		return Answer{Kind: Closed}
	case "enter":
		if p.yes {
			return Answer{Kind: Agreed}
		}
		return Answer{Kind: Closed}
	}
	return Answer{}
}

// Click presses a button.
func (p *Program) Click(x, y int, _ time.Time) Answer {
	switch p.spots.at(x, y) {
	case clicksClose:
		return Answer{Kind: Closed}
	case clicksYes:
		return Answer{Kind: Agreed}
	}
	return Answer{}
}

// Size is the block that it wants, at most width by height.
func (p *Program) Size(width, height int) (int, int) {
	width = min(programWidth, width)
	room := width - frame - 2*insetFor(width)
	return width, min(len(p.body(room))+frame+2, height)
}

// View draws it as exactly height lines of width cells.
func (p *Program) View(l *paint.Line, width, height int) []string {
	box := panelOf(width, "Run "+p.command.Name+"?", escapes("esc cancel"))
	if width >= wideFoot {
		box.foot = append(paint.Spans{paint.In(paint.Muted, "tab next   enter press   ")}, box.foot...)
	}
	all := append(rows(margin, paint.Spans{}), rows(needed, p.body(box.room(width))...)...)
	all, _ = squeeze(append(all, rows(margin, paint.Spans{})...), height-frame)
	return p.draw(l, box, width, height, all)
}

// body is the program and each of its arguments, as they are passed, and the buttons.
func (p *Program) body(room int) []paint.Spans {
	const label = 10
	var out []paint.Spans
	for i, arg := range p.argv {
		name := "argument"
		if i == 0 {
			name = "program"
		}
		text := paint.Wrapped(paint.Text|paint.Bold, quoted(arg), max(room-label, 1))
		out = append(out, behind(paint.In(paint.Muted, name), label, text)...)
	}
	buttons := append(button("Cancel", !p.yes, clicksClose), paint.Blank(2))
	return append(out, paint.Spans{}, append(buttons, button("Run", p.yes, clicksYes)...))
}

// quoted returns an argument, in quotes if a reader could not see where it begins and ends.
func quoted(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \"'\\`") || strconv.Quote(arg) != `"`+arg+`"` {
		return strconv.Quote(arg)
	}
	return arg
}
