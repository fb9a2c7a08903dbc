package notify

import (
	"strings"
	"unicode"

	"tillwatch/api"
)

// Method is a way to notify through a terminal.
type Method string

// The methods.
const (
	Auto   Method = "auto"   // the method that the terminal is known to support
	Bell   Method = "bell"   // the terminal's bell, without text
	OSC9   Method = "osc9"   // iTerm2 and others
	OSC99  Method = "osc99"  // kitty
	OSC777 Method = "osc777" // rxvt-unicode and others
	Off    Method = "off"
)

// Methods lists the methods.
func Methods() []Method { return []Method{Auto, Bell, OSC9, OSC99, OSC777, Off} }

// Resolve replaces [Auto] with the method that the terminal supports, as the environment
// variables tell. An unknown terminal gets the bell, and so does one behind a multiplexer,
// which does not pass such sequences on.
func (m Method) Resolve(environment func(name string) string) Method {
	if m != Auto {
		return m
	}
	terminal, program := environment("TERM"), environment("TERM_PROGRAM")
	switch {
	case terminal == "dumb":
		return Off
	case environment("TMUX") != "", environment("STY") != "", environment("ZELLIJ") != "":
		return Bell
	case environment("KITTY_WINDOW_ID") != "", terminal == "xterm-kitty":
		return OSC99
	case program == "iTerm.app", program == "WezTerm", program == "ghostty", program == "WarpTerminal":
		return OSC9
	case terminal == "foot", strings.HasPrefix(terminal, "foot-"), strings.HasPrefix(terminal, "rxvt-unicode"):
		return OSC777
	}
	return Bell
}

const (
	title    = "tillwatch"
	bell     = "\a"
	escape   = "\x1b]"
	end      = "\x1b\\"
	maxRunes = 120 // in a notification's text
)

// sequence returns the bytes for the terminal. The text of OSC 9 never begins with a
// number, which some terminals read as a command.
func (m Method) sequence(text string) string {
	text = strict(text)
	switch m {
	case Bell:
		return bell
	case OSC9:
		return escape + "9;" + title + ": " + text + bell
	case OSC99: // one id: a newer notification replaces the older one
		return escape + "99;i=" + title + ":d=0:o=unfocused;" + title + end +
			escape + "99;i=" + title + ":d=1:p=body;" + text + end
	case OSC777:
		return escape + "777;notify;" + title + ";" + text + bell
	}
	return ""
}

// strict keeps only letters, digits, currency signs and a little punctuation: the
// desktop's notification program may interpret escapes, fields or markup.
func strict(text string) string {
	var b strings.Builder
	n, blank := 0, true
	for _, r := range string(api.Scrub(text)) {
		if !harmless(r) {
			r = ' '
		}
		if r == ' ' && blank {
			continue
		}
		if n++; n > maxRunes {
			b.WriteString("…")
			break
		}
		blank = r == ' '
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ")
}

func harmless(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Sc) || strings.ContainsRune(" .,:!?'’()+-–/×%#…", r)
}
