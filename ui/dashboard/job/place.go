package job

import (
	"unicode"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tillwatch/ui/dashboard/action"
)

// placed returns a key that is called by its letter, and by its place on an American keyboard
// only if its letter is not Latin, or it is a punctuation mark after such letters: on a Greek
// keyboard, q is a semicolon. The library calls all keys by their place if the terminal reports
// that, and takes the place for the letter that shift types.
func placed(e uv.KeyPressEvent, foreign bool) tea.KeyPressMsg {
	key := tea.KeyPressMsg(e)
	shifted := key.Mod&(tea.ModShift|tea.ModCapsLock) != 0 && unicode.IsLetter(key.Code)
	if shifted && key.Text == string(key.BaseCode) {
		key.Text = string(unicode.ToUpper(key.Code))
	}
	if !action.OfAnotherScript(key.Code) && !(foreign && unicode.IsPunct(key.Code)) {
		key.BaseCode = 0
	}
	return key
}

// modifies reports whether a key does nothing alone, such as shift.
func modifies(e uv.KeyPressEvent) bool {
	lock := uv.KeyCapsLock <= e.Code && e.Code <= uv.KeyNumLock
	return lock || uv.KeyLeftShift <= e.Code && e.Code <= uv.KeyIsoLevel5Shift
}
