package actiontest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// named are the keys that have a name: their code, and what a terminal sends.
var named = map[string]struct {
	code  rune
	bytes string
}{
	"enter": {tea.KeyEnter, "\r"}, "esc": {tea.KeyEscape, "\x1b"}, "tab": {tea.KeyTab, "\t"}, "space": {tea.KeySpace, " "}, "backspace": {tea.KeyBackspace, "\x7f"},
	"insert": {tea.KeyInsert, "\x1b[2~"}, "delete": {tea.KeyDelete, "\x1b[3~"}, "pgup": {tea.KeyPgUp, "\x1b[5~"}, "pgdown": {tea.KeyPgDown, "\x1b[6~"},
	"up": {tea.KeyUp, "\x1b[A"}, "down": {tea.KeyDown, "\x1b[B"}, "right": {tea.KeyRight, "\x1b[C"}, "left": {tea.KeyLeft, "\x1b[D"},
	"home": {tea.KeyHome, "\x1b[H"}, "end": {tea.KeyEnd, "\x1b[F"}, "f1": {tea.KeyF1, "\x1bOP"}, "f5": {tea.KeyF5, "\x1b[15~"},
}

// sent are the keys with a modifier for which a terminal has a sequence of its own.
var sent = map[string]string{
	"shift+tab": "\x1b[Z", "shift+left": "\x1b[1;2D", "shift+right": "\x1b[1;2C", "alt+left": "\x1b[1;3D", "alt+right": "\x1b[1;3C",
}

// Press is a key, by the name that the table gives it, as the terminal library
// reports it.
func Press(name string) tea.KeyPressMsg {
	key, plain := tea.KeyPressMsg{}, name
	for modifier, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if utf8.RuneCountInString(name) > 1 && strings.Contains(name, modifier) {
			key.Mod |= mod
			plain = strings.ReplaceAll(plain, modifier, "")
		}
	}
	key.Code = named[plain].code
	if key.Code == 0 {
		key.Code, _ = utf8.DecodeRuneInString(plain)
	}
	switch {
	case key.Mod != 0:
	case plain == "space":
		key.Text = " "
	case named[plain].code == 0:
		key.Text = plain
	}
	return key
}

// Bytes is what a terminal sends for a key; "" for one that it cannot send.
func Bytes(name string) string {
	if known, ok := named[name]; ok {
		return known.bytes
	}
	if sequence, ok := sent[name]; ok {
		return sequence
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok && len(letter) == 1 && 'a' <= letter[0] && letter[0] <= 'z' {
		return string(rune(letter[0] & 0x1f))
	}
	if plain, ok := strings.CutPrefix(name, "alt+"); ok && len(plain) == 1 {
		return "\x1b" + plain
	}
	if utf8.RuneCountInString(name) != 1 {
		return ""
	}
	return name
}

// Typed are the keys that type a text. Characters that no key types are left out.
func Typed(text string) (keys []string) {
	for _, r := range text {
		switch {
		case r == ' ':
			keys = append(keys, "space")
		case r > ' ':
			keys = append(keys, string(r))
		}
	}
	return keys
}
