package command

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
)

// senderOptions say how to send events to an endpoint.
type senderOptions struct{ headers, headerFiles []string }

func senderFlags(flags *pflag.FlagSet, o *senderOptions) {
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.StringArrayVar(&o.headers, "header", nil, "header to add, such as 'X-Team: checkout' (repeatable)")
	flags.StringArrayVar(&o.headerFiles, "header-file", nil,
		"header to add, with its value in a file, such as 'Authorization=token.txt' (repeatable)")
}

// sender signs with the settings' first secret, and says if there is none.
func (o senderOptions) sender(s settings, std streams) (forward.Sender, error) {
	out := forward.Sender{Prefix: s.HeaderPrefix, Header: http.Header{}, Transport: forward.NewTransport()}
	if secrets := s.SigningSecrets(); len(secrets) > 0 {
		out.Secret = secrets[0]
	} else {
		std.say("events are not signed: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE to sign them")
	}
	for _, header := range o.headers {
		name, value, found := strings.Cut(header, ":")
		if !found {
			return out, usagef("--header %q: give a name and a value, as in 'X-Team: checkout'", name)
		}
		if err := addHeader(out, name, strings.TrimSpace(value)); err != nil {
			return out, usagef("--header %w", err)
		}
	}
	for _, header := range o.headerFiles {
		name, path, found := strings.Cut(header, "=")
		if !found {
			return out, usagef("--header-file %q: give a name and a file, as in 'Authorization=token.txt'", name)
		}
		value, err := config.ReadSecret(path)
		if err == nil {
			err = addHeader(out, name, value)
		}
		if err != nil {
			return out, usagef("--header-file %w", err)
		}
	}
	return out, nil
}

// addHeader refuses headers that would not arrive, or would replace necessary ones.
func addHeader(s forward.Sender, name, value string) error {
	key := http.CanonicalHeaderKey(strings.TrimSpace(name))
	switch {
	case !httpguts.ValidHeaderFieldName(key):
		return fmt.Errorf("%q is not a header name", name)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("%s: its value has a character that headers must not have, such as a line break", key)
	case strings.HasPrefix(strings.ToLower(key), strings.ToLower(s.Prefix)),
		slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer"}, key):
		return fmt.Errorf("%s is set by tillwatch", key)
	}
	s.Header[key] = append(s.Header[key], value)
	return nil
}

// checkTarget refuses an endpoint that nothing can be sent to, or not what --header-file
// names: that goes to another machine encrypted. Errors do not quote the address, which may hold a secret.
func (o senderOptions) checkTarget(s settings, flag, address string) error {
	u, err := url.Parse(address)
	if err == nil && u.User != nil {
		return usagef("%s: leave out the user and the password: a header can hold them, "+
			"as in --header-file 'Authorization=token.txt'", flag)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usagef("%s: give the whole address of an endpoint, such as http://127.0.0.1:3000/webhooks", flag)
	}
	readable := api.CheckClearText(u, "what --header-file names")
	if readable != nil && len(o.headerFiles) > 0 && !s.InsecureHTTP {
		return config.WrongAddress(readable)
	}
	return nil
}

// sentCount counts what was sent once.
type sentCount struct{ sent, refused int }

func (c *sentCount) add(d delivery.Delivery) {
	if c.sent++; d.State != delivery.Delivered {
		c.refused++
	}
}

// failure is an error if an endpoint did not accept all events.
func (c *sentCount) failure() error {
	if c.refused == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s: an endpoint must answer 200 within 5 seconds",
		c.refused, countOf(c.sent, "was not accepted", "were not accepted"))
}
