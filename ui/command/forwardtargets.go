package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
)

// senderOptions say how to send events to an endpoint.
type senderOptions struct {
	fresh                bool
	headers, headerFiles []string
}

func senderFlags(flags *pflag.FlagSet, o *senderOptions) {
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.BoolVar(&o.fresh, "fresh", false, "give each attempt a timestamp of its own")
	flags.StringArrayVar(&o.headers, "header", nil, "header to add, such as 'X-Team: checkout' (repeatable)")
	flags.StringArrayVar(&o.headerFiles, "header-file", nil, "header to add, with its value in a file, such as 'Authorization=token.txt' (repeatable)")
}

// sender signs with the settings' first secret, and says on stderr if there is none.
func (o senderOptions) sender(s settings, stderr io.Writer) (forward.Sender, error) {
	out := forward.Sender{Prefix: s.HeaderPrefix, Fresh: o.fresh, Header: http.Header{}, Transport: forward.NewTransport()}
	if secrets := s.SigningSecrets(); len(secrets) > 0 {
		out.Sign = func(body []byte) string { return simulator.Signature(secrets[0], body) }
	} else {
		fmt.Fprintln(stderr, "Events are not signed: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE to sign them.")
	}
	for _, header := range o.headers {
		name, value, found := strings.Cut(header, ":")
		if err := addHeader(out, name, strings.TrimSpace(value)); err != nil || !found {
			return out, usagef("--header %q: give a name and a value, as in 'X-Team: checkout'%s", name, because(err))
		}
	}
	for _, header := range o.headerFiles {
		name, path, found := strings.Cut(header, "=")
		if !found {
			return out, usagef("--header-file %q: give a name and a file, as in 'Authorization=token.txt'", name)
		}
		value, err := config.ReadSecret(path)
		if err != nil {
			return out, usagef("--header-file %s: %w", name, err)
		}
		if err := addHeader(out, name, value); err != nil {
			return out, usagef("--header-file %s%s", name, because(err))
		}
	}
	return out, nil
}

// checkClearText refuses to send what --header-file names to another machine unencrypted.
func (o senderOptions) checkClearText(s settings, target string) error {
	if len(o.headerFiles) == 0 || s.InsecureHTTP {
		return nil
	}
	u, err := url.Parse(target)
	if err != nil { // which quotes the target with its query
		return usagef("an endpoint's address cannot be read")
	}
	if err := api.CheckClearText(u, "what --header-file names"); err != nil {
		return withAddressHint(err)
	}
	return nil
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// addHeader refuses headers that would not arrive, or would replace necessary ones.
func addHeader(s forward.Sender, name, value string) error {
	key := http.CanonicalHeaderKey(strings.TrimSpace(name))
	switch {
	case !httpguts.ValidHeaderFieldName(key):
		return fmt.Errorf("%q is not a header name", name)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s has a character that headers must not have, such as a line break", key)
	case strings.HasPrefix(strings.ToLower(key), strings.ToLower(s.Prefix)),
		slices.Contains([]string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer"}, key):
		return fmt.Errorf("%s describes the body and cannot be set", key)
	case key == "Host" && (value == "" || !httpguts.ValidHostHeader(value) || s.Header[key] != nil):
		return errors.New("the value of Host must be the name of one host, such as shop.example")
	}
	s.Header[key] = append(s.Header[key], value)
	return nil
}

// checkTarget refuses an endpoint that nothing can be sent to, and the relay's own
// address, from which events would come back.
func checkTarget(s settings, flag, address string) error {
	if err := forward.CheckTarget(address); err != nil {
		return usagef("%s: %w", flag, err)
	}
	if s.RelayURL != "" && placeOf(address) == placeOf(strings.TrimRight(s.RelayURL, "/")+relay.WebhookPath) {
		return usagef("%s is the relay's own webhook address: give the address of your endpoint", flag)
	}
	return nil
}

// placeOf normalizes an address, so that all its spellings are equal.
func placeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); api.Loopback(host) || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, api.PortOf(u)) + path.Clean("/"+u.Path)
}

// routes are the targets of --to and --route; routes to the same address share one.
func routesOf(s settings, to, routed []string) ([]forward.Target, error) {
	var all []forward.Target
	at := func(address, flag string) (*forward.Target, error) {
		if err := checkTarget(s, flag, address); err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].URL == address {
				return &all[i], nil
			}
		}
		all = append(all, forward.Target{URL: address})
		return &all[len(all)-1], nil
	}
	for _, route := range routed {
		pattern, address, found := strings.Cut(route, "=")
		if !found || pattern == "" || strings.Contains(pattern, "/") {
			return nil, usagef("--route: give an event type and an endpoint, as in 'shipment.*=http://127.0.0.1:3000/parcels'")
		}
		if err := checkTypes("--route", []string{pattern}); err != nil {
			return nil, err
		}
		t, err := at(address, "--route "+pattern)
		if err != nil {
			return nil, err
		}
		t.Types = append(t.Types, pattern)
	}
	for _, address := range to {
		t, err := at(address, "--to")
		if err != nil {
			return nil, err
		}
		t.Types = nil // all
	}
	if len(all) == 0 {
		return nil, usagef("where to? give --to http://127.0.0.1:3000/webhooks, or --route for each event type")
	}
	return all, nil
}
