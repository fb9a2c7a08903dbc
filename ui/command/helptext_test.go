package command

import (
	"regexp"
	"strings"
	"testing"
)

func TestNoLineOfAHelpTextEndsWithinAWord(t *testing.T) {
	t.Parallel()
	within := regexp.MustCompile(`(?m)[\pL\d-]-\s*$`)
	var names func(path []string)
	seen := 0
	names = func(path []string) {
		r := runAs(t, append(path, "--help")...)
		seen++
		if at := within.FindString(r.out); at != "" || r.code != exitDone {
			t.Errorf("%s: exit code %d, a line ends with %q:\n%s", strings.Join(path, " "), r.code, at, r.out)
		}
		command, _, err := newRoot().Find(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, inner := range command.Commands() {
			if inner.Name() != "completion" {
				names(append(path[:len(path):len(path)], inner.Name()))
			}
		}
	}
	names(nil)
	if seen < 30 {
		t.Errorf("%d commands are known, want all", seen)
	}
}

func TestTextsBreakAtSpacesAlone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"or the secret in --signing-secret-file", "or the secret in\n--signing-secret-file"},
		{"for at most --give-up while", "for at most --give-up\nwhile"},
		{"a   table\nof two lines", "a   table\nof two lines"},
	} {
		if got := atSpaces(c.text, 21); got != c.want {
			t.Errorf("%q is broken into %q, want %q", c.text, got, c.want)
		}
	}
}
