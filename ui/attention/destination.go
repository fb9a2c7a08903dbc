package attention

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Destination is where alerts are sent: a webhook or a program.
type Destination struct {
	Kinds   []string              // names from [Kinds]; none: every kind
	Webhook api.Secret            // URL that gets a POST of JSON; it may hold a token
	Headers map[string]api.Secret // of that request
	Command []string              // program and arguments, instead of a webhook
	Live    bool                  // the program may run where money is real
	Timeout time.Duration         // per attempt; 0: 10 s

	transport http.RoundTripper // replaces the network in tests
}

// Kinds are the kinds that can be sent: the kinds of alerts, and "spent", a case of
// "day". The alert that alerts cannot be sent is not one of them.
func Kinds() []string {
	names := []string{account.Spent}
	for _, kind := range account.AlertKinds() {
		if kind != account.AlertSending {
			names = append(names, string(kind))
		}
	}
	return names
}

// Check refuses an impossible destination.
func (d Destination) Check() error {
	for _, kind := range d.Kinds {
		if !slices.Contains(Kinds(), kind) {
			return fmt.Errorf("there is no kind of alert %q: choose among %s", api.Scrub(kind), strings.Join(Kinds(), ", "))
		}
	}
	switch {
	case d.Webhook.IsZero() == (len(d.Command) == 0):
		return errors.New("it needs either a webhook or a command")
	case d.Timeout < 0 || d.Timeout > 5*time.Minute:
		return errors.New("its timeout must be at most 5m")
	case len(d.Command) > 0 && len(d.Headers) > 0:
		return errors.New("headers belong to a webhook, not to a command")
	case len(d.Command) > 0 && strings.TrimSpace(d.Command[0]) == "":
		return errors.New("its command names no program")
	case len(d.Command) > 0 && strings.Contains(d.Command[0], "{"):
		return errors.New("its program must be fixed, not filled in")
	case len(d.Command) > 0:
		return nil
	}
	for name, value := range d.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value.Reveal()) {
			return fmt.Errorf("the header %q, or its value, cannot be sent", api.Scrub(name))
		}
	}
	return checkAddress(d.Webhook.Reveal())
}

// checkAddress does not repeat the address: it may hold a token.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return errors.New("its webhook must be an address such as https://hooks.example/path")
	case u.Scheme == "http" && !api.Loopback(u.Hostname()):
		return errors.New("its webhook must begin with https://; http:// works only on this machine")
	}
	return nil
}

// Name is the destination without secrets: a webhook's host, or the program.
func (d Destination) Name() string {
	if len(d.Command) > 0 {
		return string(api.Scrub(filepath.Base(d.Command[0])))
	}
	u, err := url.Parse(d.Webhook.Reveal())
	if err != nil {
		return "webhook"
	}
	return string(api.Scrub(u.Host))
}

// takes reports whether to send an alert here.
func (d Destination) takes(a account.Alert) bool {
	if a.Kind == account.AlertSending {
		return false
	}
	return len(d.Kinds) == 0 || slices.Contains(d.Kinds, string(a.Kind)) || a.Cause == account.Spent && slices.Contains(d.Kinds, account.Spent)
}

// HeldWords say why a destination is held.
const HeldWords = "it is not run where money is real: set live = true on its [[alert]] to allow that"

// Held reports whether the destination is a program that may not run in the notice's
// environment.
func (d Destination) Held(n Notice) bool { return len(d.Command) > 0 && n.Live && !d.Live }

// fingerprint identifies the destination, also in files.
func (d Destination) fingerprint() string {
	return api.NewSecret(d.Webhook.Reveal() + "\x00" + strings.Join(d.Command, "\x00")).Fingerprint("way of alerts")
}

func (d Destination) timeout() time.Duration {
	if d.Timeout == 0 {
		return 10 * time.Second
	}
	return d.Timeout
}

// client calls one webhook. It follows no redirects, which could send secret headers
// elsewhere.
func (d Destination) client() *http.Client {
	transport := d.transport
	if u, err := url.Parse(d.Webhook.Reveal()); err == nil && transport == nil {
		transport = api.TransportTo(u.Hostname())
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
