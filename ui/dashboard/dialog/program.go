package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Program shows an own command before it runs and while it runs, and then what it printed.
type Program struct {
	base
	window  // of the output
	table   *action.Table
	command own.Command
	argv    []string
	phase   phase
	yes     bool // the focus is on the yes
	began   time.Time
	now     time.Time
	ending  bool // it was cancelled and has not ended yet
	result  own.Result
	wrapped []paint.Spans // the output, for a room of so many cells
	room    int
}

const programWidth = 100

// NewProgram asks whether a command may run. It opens on the yes if ranBefore is true.
func NewProgram(table *action.Table, command own.Command, argv []string, ranBefore bool) *Program {
	return &Program{table: table, command: command, argv: argv, yes: ranBefore, phase: asking}
}

// Command returns the command.
func (p *Program) Command() own.Command { return p.command }

// Argv returns the program and its arguments, as they are shown and run.
func (p *Program) Argv() []string { return p.argv }

// Begin says that the command runs.
func (p *Program) Begin(at time.Time) { p.phase, p.began, p.now = running, at, at }

// Running reports whether the command is running.
func (p *Program) Running() bool { return p.phase == running }

// SetNow moves the clock.
func (p *Program) SetNow(now time.Time) { p.now = now }

// End shows the result of the command.
func (p *Program) End(r own.Result) { p.phase, p.result = ended, r }

// Key answers, scrolls or closes. While the command runs, leaving cancels it.
func (p *Program) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	p.said = ""
	switch name := key.String(); {
	case name == "esc", name == "ctrl+c":
		return p.leave()
	case p.phase == asking:
		return p.ask(name)
	case p.phase == ended:
		if name == "enter" || name == "q" {
			return Answer{Kind: Closed}
		}
		p.key(p.table, key)
	}
	return Answer{}
}

func (p *Program) leave() Answer {
	if p.phase == running {
		p.ending = true
		return Answer{Kind: Cancelled}
	}
	return Answer{Kind: Closed}
}

func (p *Program) ask(name string) Answer {
	switch name {
	case "tab", "shift+tab", "left", "right", "h", "l":
		p.yes = !p.yes
	case "q":
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
		return p.leave()
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
	foot := map[phase]string{asking: "esc cancel", running: "esc ends it", ended: "esc close"}[p.phase]
	box := panelOf(width, p.title(), escapes(foot))
	if p.phase == asking && width >= wideFoot {
		box.foot = append(paint.Spans{paint.In(paint.Muted, "tab next   enter press   ")}, box.foot...)
	}
	body := p.body(box.room(width))
	head := len(body) - p.lines
	p.page = max(height-frame-2-head, 1)
	p.Scroll(0)
	if box.badge = p.badge(); len(box.badge) > 0 {
		box.foot = append(box.foot, paint.In(paint.Muted, "   ↑ ↓ scroll"))
		body = append(body[:head:head], body[head+p.top:min(head+p.top+p.page, len(body))]...)
	}
	all := append(rows(margin, paint.Spans{}), rows(needed, body...)...)
	all, _ = squeeze(append(all, rows(margin, paint.Spans{})...), height-frame)
	return p.draw(l, box, width, height, all)
}

func (p *Program) title() string {
	switch p.phase {
	case asking:
		return "Run " + p.command.Name + "?"
	case running:
		return p.command.Name + " runs"
	}
	return p.command.Name
}

// body is what is shown. The lines of the output come last.
func (p *Program) body(room int) []paint.Spans {
	p.lines = 0
	if p.phase == ended {
		out := []paint.Spans{p.verdict(), {}}
		output := p.output(room)
		p.lines = len(output)
		return append(out, output...)
	}
	out := p.shown(room)
	out = append(out, paint.Spans{})
	if p.phase == running {
		text := "running for " + wording.Age(p.now.Sub(p.began))
		if p.ending {
			text = "ending"
		}
		return append(out, paint.Spans{paint.In(paint.Muted, text)})
	}
	return append(out, append(append(button("Cancel", !p.yes, clicksClose), paint.Blank(2)), button("Run", p.yes, clicksYes)...))
}

// shown is the program and each of its arguments, as they are passed.
func (p *Program) shown(room int) []paint.Spans {
	const label = 10
	var out []paint.Spans
	for i, arg := range p.argv {
		name := "argument"
		if i == 0 {
			name = "program"
		}
		out = append(out, behind(paint.In(paint.Muted, name), label, paint.Wrapped(paint.Text|paint.Bold, quoted(arg), max(room-label, 1)))...)
	}
	return out
}

// quoted returns an argument, in quotes if a reader could not see where it begins and ends.
func quoted(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \"'\\`") || strconv.Quote(arg) != `"`+arg+`"` {
		return strconv.Quote(arg)
	}
	return arg
}

// verdict says how the command ended, and after how long.
func (p *Program) verdict() paint.Spans {
	r := p.result
	style, text := paint.Good, "✓ done"
	switch {
	case r.Err != nil:
		style, text = paint.Bad, "✕ "+r.Err.Error()
	case r.Code != 0:
		style, text = paint.Bad, fmt.Sprintf("✕ exit code %d", r.Code)
	}
	return paint.Spans{paint.In(style, text), paint.In(paint.Muted, " · "+wording.Took(r.Took))}
}

// output is what the command printed, wrapped once for each width.
func (p *Program) output(room int) []paint.Spans {
	if p.wrapped == nil || p.room != room {
		p.wrapped, p.room = p.wrap(room), room
	}
	return p.wrapped
}

func (p *Program) wrap(room int) []paint.Spans {
	if len(p.result.Lines) == 0 {
		return []paint.Spans{{paint.In(paint.Muted, "It printed nothing.")}}
	}
	var out []paint.Spans
	for _, line := range p.result.Lines {
		if line == "" {
			out = append(out, paint.Spans{})
		}
		out = append(out, paint.Wrapped(paint.Text, line, room)...)
	}
	if p.result.Dropped > 0 {
		out = append(out, paint.Spans{paint.In(paint.Warning, fmt.Sprintf("… and %d more bytes, not kept", p.result.Dropped))})
	}
	return out
}
