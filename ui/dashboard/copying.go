package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/weblink"
)

// clipboard copies texts: with Config.Copy, which knows whether that worked, or else by asking the
// terminal, which never answers.
type clipboard struct {
	cfg     *Config
	notices *notices
	work    *errands
	deaf    func() bool // whether the terminal cannot even be asked
}

// copying is a text to copy, and what is said about it: what was done stands between before and
// after.
type copying struct {
	text          string
	kind          paint.Style
	before, after string
	link          weblink.Link // at the end; zero: none
}

// copiedMsg says how Config.Copy ended.
type copiedMsg struct {
	copying
	err error
}

func (c *clipboard) copy(ctx context.Context, what copying) tea.Cmd {
	if c.cfg.Copy == nil {
		return c.ask(what)
	}
	return c.work.start(ctx, func(ctx context.Context) tea.Msg { return copiedMsg{what, c.cfg.Copy(ctx, what.text)} })
}

// done says that a text was copied, or asks the terminal if it was not.
func (c *clipboard) done(msg copiedMsg) tea.Cmd {
	if msg.err != nil {
		return c.ask(msg.copying)
	}
	c.say(msg.copying, "copied")
	return nil
}

func (c *clipboard) ask(what copying) tea.Cmd {
	if c.deaf() {
		c.say(what, "this terminal cannot copy")
		return nil
	}
	c.say(what, "asked the terminal to copy")
	return sendTerminal(ansi.SetSystemClipboard(what.text))
}

func (c *clipboard) say(what copying, did string) {
	c.notices.sayLink(what.kind, what.before+did+what.after, what.link)
}
