// Package dashboard is the screen: one Bubble Tea model that shows the live
// picture of an account and routes keys to panes and dialogs.
//
// It reads an [account.Picture] and nothing else, performs no I/O in Update, and draws a
// pane again only after something in it changed.
package dashboard

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/themes"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/replay"
	"tillwatch/ui/notify"
)

// Confirmer submits a confirmed proposal; [confirm.Guard] is one.
type Confirmer interface {
	Confirm(ctx context.Context, seen confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome
}

// Config configures a dashboard. Source is required.
type Config struct {
	Source            account.Picture
	Restored          func() error // waits until Source is to be read; its error ends the dashboard. Nil: at once
	Environment       string       // the environment, until an answer names it
	Live              bool         // the environment takes real money
	Account           string       // for display
	Armed             bool         // intents may be confirmed; needs a Confirmer
	Confirmer         Confirmer
	Refresh           func(api.ID)           // reads an intent; nil: not possible. It must not block.
	TryKey            func()                 // rereads a refused or limited API key from its file and tries it now; nil: not possible. It must not block for long.
	KeyFile           string                 // the API key's file, for display; "": none
	Commands          []own.Command          // from the configuration; their actions are in Actions as well
	CommandEnviron    []string               // for own commands; nil: none
	SuspendInterrupts func() (resume func()) // leaves the terminal's interrupts to another program until resume; nil: they stay here
	Reconnect         func()                 // reconnects to a lost relay now; nil: there is none. It must not block.

	Attention attention.Memory              // from earlier runs
	IdleAfter time.Duration                 // how long without key or mouse until the user is away; 0: 5 min, below 0: never
	Attend    func(func(*attention.Memory)) // gets each change of Attention; may be nil. It must not block.

	Exporter Exporter // exports intents; nil: not possible
	Browser  Browser  // opens links; the zero Browser copies them

	Copy func(ctx context.Context, text string) error // copies; nil: the terminal is asked. Update never calls it directly.

	Theme         themes.Theme         // the zero Theme uses the terminal's own colours
	Themes        []themes.Theme       // for the theme key; nil: all embedded ones
	Notify        notify.Method        // while the terminal is not focused; "": none
	LightTheme    *themes.Theme        // replaces Theme on a light background; nil: the terminal is not asked
	ThemeChanges  <-chan themes.Change // of the theme's file; nil: none
	Watched       string               // the name of that theme; "": Theme's
	Actions       *action.Table        // nil: the default keys
	Now           func() time.Time     // for ages; nil: time.Now
	Transport     replay.Transport     // controls a Source that replays a recording; nil: the Source is live
	Recording     Recording            // nil: nothing can be recorded
	ConfirmWindow time.Duration        // 0: api.ConfirmWindow
	Payment       api.PaymentType      // that confirms name; "": the intent's own
	Location      *time.Location       // of times shown; nil: time.Local
	Remembered    Layout               // the saved arrangement of the screen
	Remember      func(Layout)         // saves each change of it; may be nil. It must not block.
	Filter        string               // of the intents, or the name of a saved filter; "": none
	At            string               // the start position; "": the board
	Warning       string               // shown at the start
	NoMouse       bool                 // leave the mouse to the terminal
	NoColor       bool                 // draw without colour
	Environ       []string             // the terminal's: TERM and others; nil: the process's own
	Width, Height int                  // the screen's, in cells, if out is not a terminal with a size
}

func (c Config) withDefaults() Config {
	if c.ConfirmWindow <= 0 {
		c.ConfirmWindow = api.ConfirmWindow
	}
	if c.IdleAfter == 0 {
		c.IdleAfter = 5 * time.Minute
	}
	if c.Location == nil {
		c.Location = time.Local
	}
	if c.Browser.Open == nil && c.Browser.Closed == "" {
		c.Browser.Closed = "no browser was found"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Actions == nil && c.Transport != nil {
		c.Actions = action.Replay()
	}
	if c.Actions == nil {
		c.Actions = action.Default()
	}
	if c.Themes == nil {
		for _, name := range themes.Names() {
			if t, err := themes.Find(name); err == nil {
				c.Themes = append(c.Themes, t)
			}
		}
	}
	if c.CommandEnviron == nil {
		c.CommandEnviron = []string{} // nil would mean the process's own
	}
	c.Armed = c.Armed && c.Confirmer != nil
	return c
}
