package paint

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestOnlySafeAddressesBecomeLinks(t *testing.T) {
	cases := map[string]bool{
		"https://acme.example/products/1?a=b&c=d#x":         true,
		"https://acme.example":                              true,
		"http://acme.example":                               false,
		"HTTPS://acme.example":                              false,
		"javascript:alert(1)":                               false,
		"file:///etc/passwd":                                false,
		"https://":                                          false,
		"https://:443/":                                     false,
		"https://user:pass@acme.example/":                   false,
		"https://acme.example/\x1b]52;c;x\x07":              false,
		"https://acme.example/\u202e":                       false,
		"https://аcme.example/":                             false,
		"https://acme.example/a b":                          false,
		"https://acme.example/" + strings.Repeat("a", 2000): false,
	}
	for address, want := range cases {
		line := NewLine(brush(t)).Start(20).Link(Text, "shop", address).String()
		if got := strings.Contains(line, "\x1b]8;;https"); got != want {
			t.Errorf("%q is a link: %t, want %t", address, got, want)
		}
		if got := ansi.Strip(line); got != "shop                " {
			t.Errorf("%q is drawn as %q", address, got)
		}
		if strings.Count(line, "\x1b]8;;") == 1 {
			t.Errorf("%q: the link does not end", address)
		}
	}
}
