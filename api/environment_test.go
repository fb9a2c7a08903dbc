package api

import (
	"fmt"
	"strings"
	"testing"
)

func TestEnvironmentComesFromHostAndKeyUntilAnAnswerComes(t *testing.T) {
	tests := []struct {
		base, key, want string
		live            bool
	}{
		{"http://127.0.0.1:8080", "k", "unknown", true},
		{"http://[::1]:8080", "k", "unknown", true},
		{"http://localhost", "shop/staging-ab", "unknown", false},
		{"https://checkout.localhost", "k", "unknown", true},
		{"https://simulator", "k", "simulator:443", true},
		{"https://unknown", "k", "unknown:443", true},
		{"https://staging.checkout.example", "k", "staging", false},
		{"https://api-sandbox.checkout.example", "k", "staging", false},
		{"https://checkout.example", "shop/staging-ab", "staging", false},
		{"https://checkout.example", "shop/production-ab", "production", true},
		{"https://production.checkout.example", "k", "production", true},
		{"https://checkout.example", "k", "checkout.example", true},
		{"https://checkout.example:8443", "k", "checkout.example:8443", true},
		{"https://backstaging.example", "k", "backstaging.example", true},
		{"https://checkout.example", "notstaging-ab", "checkout.example", true},
		{"https://127.0.0.1.example", "k", "127.0.0.1.example", true},
	}
	for _, test := range tests {
		t.Run(test.base+" "+test.key, func(t *testing.T) {
			client, err := New(Config{BaseURL: test.base, Key: NewSecret(test.key)})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "environment", client.Environment(), Environment{Name: test.want, Live: test.live})
		})
	}
}

func TestNewRefusesWhatCannotWorkAndSaysWhy(t *testing.T) {
	const key = "shop/staging-0123"
	tests := []struct {
		name string
		cfg  Config
		says string
	}{
		{"no address", Config{Key: NewSecret(key)}, "base URL: missing"},
		{"no scheme", Config{BaseURL: "checkout.example", Key: NewSecret(key)}, "https://"},
		{"another scheme", Config{BaseURL: "ftp://checkout.example", Key: NewSecret(key)}, "https://"},
		{"no host", Config{BaseURL: "https://", Key: NewSecret(key)}, "no host"},
		{"key in the address", Config{BaseURL: "https://" + "user:hunter2@checkout.example", Key: NewSecret(key)}, "user name or password"},
		{"unreadable address with a key", Config{BaseURL: "https://user:hunter2@[checkout", Key: NewSecret(key)}, "cannot be read"},
		{"query", Config{BaseURL: "https://checkout.example?key=hunter2", Key: NewSecret(key)}, "query"},
		{"fragment", Config{BaseURL: "https://checkout.example#hunter2", Key: NewSecret(key)}, "fragment"},
		{"version prefix", Config{BaseURL: "https://checkout.example/api/v1/", Key: NewSecret(key)}, "must not end in /api/v1"},
		{"no key", Config{BaseURL: "https://checkout.example"}, "API key: missing"},
		{"key with a line break", Config{BaseURL: "https://checkout.example", Key: NewSecret("hunter2\n")}, "copied whole"},
		{"production key on staging", Config{BaseURL: "https://staging.example", Key: NewSecret("shop/production-hunter2")}, "production key, but"},
		{"production key on loopback", Config{BaseURL: "https://localhost", Key: NewSecret("shop/production-hunter2")}, "loopback"},
		{"production key in the clear", Config{BaseURL: "http://checkout.example", Key: NewSecret("shop/production-hunter2")}, "in the clear"},
		{"staging key on production", Config{BaseURL: "https://production.example", Key: NewSecret("shop/staging-hunter2")}, "staging key, but"},
		{"user agent", Config{BaseURL: "https://checkout.example", Key: NewSecret(key), UserAgent: "a\r\nX: y"}, "user agent"},
		{"lookup path", Config{BaseURL: "https://checkout.example", Key: NewSecret(key), LookupPath: "lookup"}, "product lookup path"},
		{"lookup path with a query", Config{BaseURL: "https://checkout.example", Key: NewSecret(key), LookupPath: "/l?u="}, "product lookup path"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want an error that says %q", err, test.says)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "0123") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestClientDoesNotPrintItsKey(t *testing.T) {
	client, err := New(Config{BaseURL: "https://checkout.example", Key: NewSecret("hunter2")})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{client, client.key.Load(), client.reads} {
			if printed := fmt.Sprintf(verb, value); strings.Contains(printed, "hunter2") {
				t.Errorf("%s shows the key: %s", verb, printed)
			}
		}
	}
}
