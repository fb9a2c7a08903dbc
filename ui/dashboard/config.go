// Package dashboard is the screen: one Bubble Tea model that shows the live
// picture of an account and routes keys to panes and dialogs.
//
// It reads a [Source] and nothing else, performs no I/O in Update, and draws a
// pane again only after something in it changed.
package dashboard

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/delivery"
	"tillwatch/themes"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/replay"
	"tillwatch/ui/notify"
)

// Source is the picture that the dashboard shows; [account.Store] is one.
type Source interface {
	// Changes returns what changed after version since; 0 gives everything.
	Changes(since uint64) account.Changes
	// Wait returns once there is something newer than since, or when ctx ends.
	Wait(ctx context.Context, since uint64) error
	// Intent returns all that is known of one intent.
	Intent(id api.ID) (*account.IntentDetail, bool)
}

// Confirmer submits what a person said yes to; [confirm.Guard] is one.
type Confirmer interface {
	Confirm(ctx context.Context, seen confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome
}

// Profiles are the accounts that the screen can be given to instead.
type Profiles interface {
	Names() []string
	Current() string // the one on the screen; "": an account that none names
	// Prepare makes another one ready while this one goes on. The error says why it
	// cannot be shown.
	Prepare(ctx context.Context, name string) error
	// Take gives the screen to the one that was made ready, once this dashboard has
	// ended. It does not block.
	Take()
}

// Config sets a dashboard up. Source is required.
type Config struct {
	Source         Source
	Environment    string // the service's environment, until an answer names it
	Live           bool   // the environment takes real money
	Account        string // for display
	Armed          bool   // intents may be confirmed; needs a Confirmer
	Confirmer      Confirmer
	Unsettled      []confirm.Line                                               // confirms of earlier runs whose outcome was never learnt; the first notice
	Refresh        func(api.ID)                                                 // asks for a read of an intent; nil: not possible. It must not block.
	TryKey         func()                                                       // has a refused API key read again, where it comes from a file, and tried now; nil: not possible. It must not block for long.
	KeyFile        string                                                       // where the API key comes from, for display; "" when from no file
	Profiles       Profiles                                                     // nil: the screen stays with this account
	Commands       []own.Command                                                // of the configuration; their actions are in Actions as well
	RunCommand     func(ctx context.Context, argv, environ []string) own.Result // nil: own.Run
	CommandEnviron []string                                                     // of those; nil: none
	Lend           func() (back func())                                         // what ends a program at the terminal is another's until back; nil: it stays ours
	Bound          string                                                       // why it does as well, "" when nothing binds it
	Reconnect      func()                                                       // has a lost relay dialled now; nil: there is none. It must not block.

	Attention attention.Memory              // what earlier runs remember of what a person saw and put off
	IdleAfter time.Duration                 // without key and mouse until somebody counts as away; 0: 5 min, below 0: never
	Attend    func(func(*attention.Memory)) // gets each change of that; nil: nobody does. It must not block.

	Deliveries *delivery.Log                       // what is sent to endpoints from here; nil: nothing is
	SendAgain  func(context.Context, api.ID) error // has one of them made now; the error says why it cannot be

	Maker    Maker    // makes intents of a stand-in; the zero Maker does not
	Exporter Exporter // puts intents into forms to be handed on; nil: not possible
	Browser  Browser  // opens links; the zero Browser copies them

	Theme         themes.Theme         // the zero Theme draws in the terminal's own colours
	Themes        []themes.Theme       // that the theme key goes through; nil: all embedded ones
	Notify        notify.Method        // of what happens while the terminal is not focused; "": not at all
	LightTheme    *themes.Theme        // instead of Theme where the terminal says that its ground is light; nil: it is not asked
	ThemeChanges  <-chan themes.Change // of the file behind a theme; nil: there is none
	Watched       string               // the name of that theme; "": Theme's
	Actions       *action.Table        // nil: the default keys
	Now           func() time.Time     // the clock that ages are counted by; nil: the machine's
	Transport     replay.Transport     // steers a Source that replays what was recorded; nil: the Source is live
	Recording     Recording            // of what is shown; nil: nothing can be recorded
	ConfirmWindow time.Duration        // 0: api.ConfirmWindow
	Location      *time.Location       // of the times that are shown; nil: time.Local
	Remembered    Layout               // how a person arranged the screen
	Remember      func(Layout)         // gets each change of that; nil: nobody does. It must not block.
	Filter        string               // of the intents, or the name of a remembered one; "": all are shown
	At            string               // the position that the run begins at; "": the board
	Warning       string               // what is to be said at the start: something was not in order
	NoMouse       bool                 // leave the mouse to the terminal
	NoColor       bool                 // draw without any colour, whatever the terminal can
	Environ       []string             // of the terminal: TERM and others; nil: the process's own
	Width, Height int                  // of the screen in cells, where out is no terminal that has a size
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
	if c.RunCommand == nil {
		c.RunCommand = own.Run
	}
	if c.CommandEnviron == nil {
		c.CommandEnviron = []string{} // nil would be our own
	}
	c.Armed = c.Armed && c.Confirmer != nil
	return c
}
