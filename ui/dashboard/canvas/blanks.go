package canvas

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// longBlank is from how many blanks on erasing them takes fewer bytes.
const longBlank = 13

// writeShortened writes a line with its long blanks erased instead of printed:
// nine tenths of an empty screen. Blanks that are more than their ground, such as
// those in reverse, are printed.
func writeShortened(w *bytes.Buffer, line string) {
	if strings.Contains(line, "\x1b]") { // a blank in a hyperlink belongs to it
		w.WriteString(line)
		return
	}
	plain, done := true, 0
	for i := 0; i < len(line); {
		switch line[i] {
		case '\x1b':
			length := sequence(line[i:])
			plain = justColours(line[i : i+length])
			i += length
			continue
		case ' ':
			blanks := len(line[i:]) - len(strings.TrimLeft(line[i:], " "))
			if plain && blanks >= longBlank {
				w.WriteString(line[done:i])
				w.WriteString(ansi.EraseCharacter(blanks))
				w.WriteString(ansi.CursorForward(blanks))
				done = i + blanks
			}
			i += blanks
			continue
		}
		i++
	}
	w.WriteString(line[done:])
}

// sequence is the length of the control sequence that s begins with.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// justColours reports whether a style is nothing but colours and weight on blanks.
// What it cannot read may be more.
func justColours(sgr string) bool {
	params, ok := strings.CutPrefix(strings.TrimSuffix(sgr, "m"), "\x1b[")
	if !ok || len(params) == len(sgr)-2 {
		return false
	}
	fields := strings.Split(params, ";")
	if fields[0] != "" && fields[0] != "0" {
		return false // it adds to what came before
	}
	for i := 1; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "38" || f == "48":
			if i+1 >= len(fields) {
				return false
			}
			i += map[string]int{"5": 2, "2": 4}[fields[i+1]]
		case f == "1", f == "2", f == "22":
		case len(f) == 2 && (f[0] == '3' || f[0] == '4' || f[0] == '9') && f[1] <= '7', len(f) == 3 && f[:2] == "10" && f[2] <= '7':
		default:
			return false
		}
	}
	return true
}
