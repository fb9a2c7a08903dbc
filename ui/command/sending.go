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
	"tillwatch/ui/wording"
)

// senderOptions say how to send events to an endpoint.
type senderOptions struct{ headers []string }

func senderFlags(flags *pflag.FlagSet, o *senderOptions) {
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.StringArrayVar(&o.headers, "header", nil,
		"header to add, such as 'X-Team: checkout', or 'Authorization: @token.txt' with its value in a file (repeatable)")
}

// parseHeaders reads the values of --header.
func parseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, usagef("--header: give a name and a value, as in 'X-Team: checkout'")
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

// sender signs with the settings' first secret, and says if there is none. It refuses headers that would not arrive, or
// would replace necessary ones.
func (o senderOptions) sender(s settings, std streams) (out forward.Sender, err error) {
	out = forward.Sender{Prefix: s.HeaderPrefix, Transport: forward.NewTransport()}
	if secrets := s.SigningSecrets(); len(secrets) > 0 {
		out.Secret = secrets[0]
	} else {
		std.say("events are not signed: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE to sign them")
	}
	if out.Header, err = parseHeaders(o.headers); err != nil {
		return out, err
	}
	for name, values := range out.Header {
		for i, value := range values {
			if path, inFile := strings.CutPrefix(value, "@"); inFile {
				if values[i], err = config.ReadSecret(path); err != nil {
					return out, usagef("--header %s: %w", name, err)
				}
			}
			switch {
			case !httpguts.ValidHeaderFieldName(name):
				return out, usagef("--header: %q is not a header name", name)
			case !httpguts.ValidHeaderFieldValue(values[i]):
				return out, usagef("--header %s: its value has a character that headers must not have, such as a "+
					"line break", name)
			case strings.HasPrefix(strings.ToLower(name), strings.ToLower(s.HeaderPrefix)),
				slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer"}, name):
				return out, usagef("--header: %s is set by tillwatch", name)
			}
		}
	}
	return out, nil
}

// checkTarget refuses an endpoint that nothing can be sent to, or not a header from a file: that goes to another
// machine encrypted. Errors do not quote the address, which may hold a secret.
func (o senderOptions) checkTarget(s settings, address string) error {
	u, err := url.Parse(address)
	if err == nil && u.User != nil {
		return usagef("leave out the user and the password of an endpoint: a header can hold them, " +
			"as in --header 'Authorization: @token.txt'")
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usagef("give the whole address of an endpoint, such as http://127.0.0.1:3000/webhooks")
	}
	secret := func(header string) bool {
		_, value, _ := strings.Cut(header, ":")
		return strings.HasPrefix(strings.TrimSpace(value), "@")
	}
	if slices.ContainsFunc(o.headers, secret) && !s.InsecureHTTP {
		return config.WrongAddress(api.CheckClearText(u, "a header that --header reads from a file"))
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
	return fmt.Errorf("not accepted: %d of %s: an endpoint must answer 200 within 5 seconds",
		c.refused, countOf(c.sent))
}

// countOf counts events in words.
func countOf(n int) string { return wording.Counted(n, "event", "events") }
