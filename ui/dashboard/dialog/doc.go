// Package dialog draws what lies above the board and decides what its keys mean:
// the guarded confirm, the help and the palette of actions.
//
// A dialog is a plain struct. It draws itself as a block of exactly as many
// lines and columns as it is asked for, performs nothing, and answers with a value
// that the root acts on.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Dialog is one of the dialogs.
type Dialog interface {
	Size(width, height int) (int, int)
	View(l *paint.Line, width, height int) []string // in exactly height lines of width cells
	Key(key tea.KeyPressMsg, at time.Time) Answer
	Click(x, y int, at time.Time) Answer
	Paste(text string)
}

// Kind is the kind of an answer.
type Kind uint8

// The kinds of answer.
const (
	None       Kind = iota // not answered: the dialog stays
	Closed                 // closed by the person; a confirm that was begun goes on
	Confirmed              // the yes to a [Confirm]; given at most once a dialog
	Withdrawn              // the yes is taken back, if that is still possible; the dialog stays until the outcome is known
	Agreed                 // a [Program] may run
	VerbChosen             // a verb of the [Palette], which stays if the argument is refused
)

// Answer is a dialog's answer to a key or click.
type Answer struct {
	Kind     Kind
	Do       action.ID // chosen in the palette; "": none
	Item     *Item     // chosen in a [Menu]; nil: none
	Verb     *Verb     // chosen in the palette; nil: none
	Argument string    // of the verb
}

// closedIf is Closed if closed is true.
func closedIf(closed bool) Answer {
	if closed {
		return Answer{Kind: Closed}
	}
	return Answer{}
}
