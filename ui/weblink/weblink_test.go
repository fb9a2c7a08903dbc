package weblink

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestALinkShowsTheHostThatABrowserGoesTo(t *testing.T) {
	for address, want := range map[string]Link{
		"https://track.example/?n=1&c=a#x":       {"https://track.example/?n=1&c=a#x", "track.example"},
		" https://Track.Example:8443/a ":         {"https://track.example:8443/a", "track.example:8443"},
		"https://аpple.example/":                 {"https://xn--pple-43d.example/", "xn--pple-43d.example"}, // the а is Cyrillic
		"https://xn--pple-43d.example":           {"https://xn--pple-43d.example", "xn--pple-43d.example"},
		"https://bücher.example/ü?q=ü":           {"https://xn--bcher-kva.example/%C3%BC?q=%C3%BC", "xn--bcher-kva.example"},
		"https://192.0.2.1/":                     {"https://192.0.2.1/", "192.0.2.1"},
		"https://[2001:db8::1]:444/":             {"https://[2001:db8::1]:444/", "[2001:db8::1]:444"},
		"https://track.example/'$(reboot)`x`|a;": {"https://track.example/%27$%28reboot%29%60x%60%7Ca;", "track.example"},
	} {
		got, err := Parse(address)
		if err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", address, got, err, want)
		}
	}
}

func TestWhatIsNoSafeAddressIsRefused(t *testing.T) {
	for address, want := range map[string]error{
		"":                      ErrNotWeb,
		"http://track.example/": ErrNotWeb,
		"javascript:alert(1)":   ErrNotWeb,
		"file:///etc/passwd":    ErrNotWeb,
		"https:track.example":   ErrNotWeb,
		"--help":                ErrNotWeb,
		"https://track.example\x1b]52;c;eA==\x07": ErrNotWeb,
		"https://track.example/\n":                nil, // the blank at its end is dropped
		"https://track.example/\r\nx":             ErrNotWeb,
		"https://bank.example@evil.example/":      ErrUser,
		"https://a:b@evil.example/":               ErrUser,
		"https:///path":                           ErrHost,
		"https://:443/":                           ErrHost,
		"https://a b.example/":                    ErrNotWeb,
		"https://evil.example%2f@x/":              ErrUser,
		"https://[fe80::1%25eth0]/":               ErrHost,
		"https://a/" + strings.Repeat("a", 2000):  ErrTooLong,
		"https://a/" + strings.Repeat("ü", 900):   ErrTooLong,
	} {
		if got, err := Parse(address); !errors.Is(err, want) {
			t.Errorf("%q is %q, error %v, want %v", address, got, err, want)
		}
	}
}

// FuzzParse holds that a link leads to the host that it names, and is the same when
// it is read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://a.example/x?y#z", "https://аpple.example", "https://a@b/", "https://a\\@b", "https://[::1]/", "https://xn--a.example"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		link, err := Parse(text)
		if err != nil {
			return
		}
		for _, c := range link.Address {
			if c <= ' ' || c >= 0x7f || strings.ContainsRune("\"<>\\^'`{|}", c) {
				t.Fatalf("%q holds %q", link.Address, c)
			}
		}
		u, err := url.Parse(link.Address)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Host != link.Host {
			t.Fatalf("%q leads to %v, error %v, want %q", link.Address, u, err, link.Host)
		}
		if again, err := Parse(link.Address); err != nil || again != link {
			t.Fatalf("%q, read again, is %q, error %v", link, again, err)
		}
	})
}
