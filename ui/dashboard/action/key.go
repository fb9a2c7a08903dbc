package action

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseKey converts a key from the user's spelling to the terminal library's: one
// character as it is typed ("q", "G", "?"), a named key ("enter", "pgup", "f5"), or
// either after modifiers ("ctrl+c").
func ParseKey(text string) (string, error) {
	if utf8.RuneCountInString(text) == 1 {
		return parsePlain(text)
	}
	parts := strings.Split(strings.ToLower(text), "+")
	if strings.HasSuffix(text, "++") {
		parts = append(parts[:len(parts)-2], "+")
	}
	name := canonicalName(parts[len(parts)-1])
	held := parts[:len(parts)-1]
	for _, modifier := range held {
		if !slices.Contains(modifiers(), modifier) {
			return "", invalidKey(text)
		}
	}
	single := utf8.RuneCountInString(name) == 1
	if !single && !slices.Contains(names(), name) {
		return "", invalidKey(text)
	}
	if single && len(held) == 1 && held[0] == "shift" {
		return "", fmt.Errorf("key %q: write the character that it types, %q for instance", text, strings.ToUpper(name))
	}
	var key strings.Builder
	for _, modifier := range modifiers() {
		if slices.Contains(held, modifier) {
			key.WriteString(modifier + "+")
		}
	}
	return key.String() + name, nil
}

// mayBeTyped reports whether every terminal sends a key, or it is refused anyway.
// Without a protocol extension, terminals cannot send most modifiers, and send some
// keys as others: ctrl+i as tab.
func mayBeTyped(text string) bool {
	key, err := ParseKey(text)
	if err != nil {
		return true
	}
	at := strings.LastIndex(key[:len(key)-1], "+") + 1
	held, name := key[:at], key[at:]
	single := utf8.RuneCountInString(name) == 1
	switch held {
	case "":
		return single || !slices.Contains(rareNames(), name)
	case "ctrl+":
		return single && "a" <= name && name <= "z" && !strings.Contains("hijm", name)
	case "alt+":
		return single
	case "shift+":
		return name == "tab"
	}
	return false
}

func parsePlain(text string) (string, error) {
	character, _ := utf8.DecodeRuneInString(text)
	if character == ' ' {
		return "space", nil
	}
	if character == utf8.RuneError || !unicode.IsGraphic(character) {
		return "", invalidKey(text)
	}
	return text, nil
}

func invalidKey(text string) error {
	return fmt.Errorf("%q is not a key: write one character (\"q\"), a named key (\"enter\", \"esc\", \"space\", \"pgup\", \"f5\") or either after modifiers (\"ctrl+c\")", text)
}

// modifiers are in the terminal library's order.
func modifiers() []string {
	return []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}
}

func names() []string {
	all := []string{
		"enter", "tab", "backspace", "esc", "space", "up", "down", "left", "right",
		"insert", "delete", "home", "end", "pgup", "pgdown",
	}
	for n := 1; n <= 20; n++ {
		all = append(all, fmt.Sprintf("f%d", n))
	}
	return all
}

// rareNames are named keys that few keyboards have.
func rareNames() []string {
	all := names()
	return all[slices.Index(all, "f13"):]
}

func canonicalName(name string) string {
	switch name {
	case "return":
		return "enter"
	case "escape":
		return "esc"
	case "del":
		return "delete"
	case "ins":
		return "insert"
	case "pageup":
		return "pgup"
	case "pagedown":
		return "pgdown"
	}
	return name
}

// ShowKey is a key for people: arrows as arrows, everything else as written.
func ShowKey(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return key
}
