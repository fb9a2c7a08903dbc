package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/signature"
	"tillwatch/ui/config"
)

func newSign() *cobra.Command {
	var body string
	var timestamp int64
	command := &cobra.Command{
		Use:   "sign",
		Short: "Sign a body as the service does, and print the four headers",
		Long: "Sign a body from stdin or a file as the service does, and print the four headers of a delivery. " +
			"tillwatch trigger --body also delivers it. The event's id and topic come from the body. The secret " +
			"comes from TILLWATCH_SIGNING_SECRET or a file; if it has several lines, the first signs.",
		Example: "tillwatch sign < event.json > headers &&\n" +
			"  curl -H @headers --data-binary @event.json http://127.0.0.1:3000/webhooks",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			if err := requireSigningSecret(s); err != nil {
				return nil, err
			}
			text, err := (&inputs{ctx: ctx, stdin: std.in}).read("--body", cmp.Or(body, "-"))
			if err != nil {
				return nil, err
			}
			event, _ := eventIn(text) // what is no event is signed, too
			return signedHeaders{
				s.HeaderPrefix + "signature": signature.Of(s.SigningSecrets()[0], text).String(),
				s.HeaderPrefix + "event-id":  string(event.ID),
				s.HeaderPrefix + "timestamp": strconv.FormatInt(cmp.Or(timestamp, time.Now().Unix()), 10),
				s.HeaderPrefix + "topic":     string(event.Type),
			}, nil
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "signing_secret_file")
	flags.StringVar(&body, "body", "", "file with the exact body (default: stdin)")
	flags.Int64Var(&timestamp, "timestamp", 0, "Unix time of the delivery in seconds (default: now)")
	jsonFlag(flags, "print the headers as one JSON object")
	return command
}

// signedHeaders are the headers of a delivery, by their names.
type signedHeaders map[string]string

func (h signedHeaders) text() (lines string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		lines += name + ": " + h[name] + "\n"
	}
	return lines
}

// eventIn decodes a body. If it is not an event, the error comes with the id and type
// that it has.
func eventIn(body []byte) (api.Event, error) {
	event, err := api.DecodeEvent(body)
	if err != nil {
		var named struct{ ID, Type string }
		_ = json.Unmarshal(body, &named) // as far as it is JSON
		event = api.Event{ID: api.ScrubID(named.ID), Type: api.EventType(api.Scrub(named.Type)), Raw: body}
	}
	return event, err
}

func newVerify() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check the signature of a delivery, and say why it is wrong",
		Long: "Check the signature of a delivery: a raw request (headers, a blank line, the exact body) from " +
			"stdin or a file, or a body with the headers in --request or --header. If it is wrong, likely faults " +
			"are undone one after another until it fits: that names the cause. The secret comes from " +
			"TILLWATCH_SIGNING_SECRET or a file.\n\n" +
			"Exit codes: 0 the signature is right (a timestamp that a receiver may refuse is a warning); 1 it is " +
			"wrong; 2 wrong usage.",
		Example: "tillwatch verify --request delivery.http\n" +
			"tillwatch verify --body body.json --header 'x-svc-signature: v0=…'\n" +
			"tillwatch sign --body event.json | tillwatch verify --body event.json",
	}
	flags := command.Flags()
	command.RunE = reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
		if err := requireSigningSecret(s); err != nil {
			return nil, err
		}
		d := signature.Delivery{
			Prefix: s.HeaderPrefix, Secrets: s.SigningSecrets(), Others: otherSecrets(s, flags), Now: time.Now(),
		}
		var err error
		if d.Header, d.Body, err = o.read(&inputs{ctx: ctx, stdin: std.in}); err != nil {
			return nil, err
		}
		found := verdict{signature.Diagnose(d)}
		if !found.Valid {
			err = fmt.Errorf("the signature is wrong: %s", found.Text)
		}
		return found, err
	})
	config.AddFlags(flags, "signing_secret_file")
	flags.StringVar(&o.request, "request", "",
		"file with the whole request, or with --body with its headers (default without --header: stdin)")
	flags.StringArrayVarP(&o.headers, "header", "H", nil,
		"header of the delivery, as in 'x-svc-signature: v0=…' (repeatable)")
	flags.StringVar(&o.body, "body", "", "file with the exact body (default with --header: stdin)")
	command.MarkFlagsMutuallyExclusive("request", "header")
	jsonFlag(flags, "print the result as one JSON object")
	return command
}

// verdict is what verify finds.
type verdict struct{ signature.Diagnosis }

// text is empty for a wrong signature, which is an error.
func (v verdict) text() string {
	switch {
	case !v.Valid:
		return ""
	case v.Text != "":
		return "the signature is right: " + string(api.Scrub(v.Text)) + "\n"
	}
	return "the signature is right\n"
}

type verifyOptions struct {
	body, request string
	headers       []string
}

// requestBytes bounds a request: the largest body that a relay takes, and headers.
const requestBytes = relay.MaxBody + http.DefaultMaxHeaderBytes

// read is the delivery: the headers of --request or --header, and the body of --body or else what
// follows the headers.
func (o verifyOptions) read(in *inputs) (header http.Header, body []byte, err error) {
	if len(o.headers) > 0 {
		if header, err = parseHeaders(o.headers); err != nil {
			return nil, nil, err
		}
		body, err = in.read("--body", cmp.Or(o.body, "-"))
		return header, body, err
	}
	in.most = requestBytes
	raw, err := in.read("--request", cmp.Or(o.request, "-"))
	in.most = 0
	if err != nil {
		return nil, nil, err
	}
	if o.body == "" {
		return parseRequest(raw)
	}
	if header, _, err = parseRequest(append(raw, "\r\n\r\n"...)); err != nil {
		return nil, nil, err
	}
	body, err = in.read("--body", o.body)
	return header, body, err
}

// parseRequest splits a request into its optional first line, its headers, and the exact
// body after a blank line.
func parseRequest(raw []byte) (http.Header, []byte, error) {
	if first, rest, found := bytes.Cut(raw, []byte("\n")); found && bytes.Contains(first, []byte(" HTTP/")) {
		raw = rest
	}
	at := bufio.NewReader(bytes.NewReader(raw))
	fields, err := textproto.NewReader(at).ReadMIMEHeader()
	if errors.Is(err, io.EOF) {
		return nil, nil, usagef("there is no body: append a blank line and the body, or give its file with --body")
	}
	if err != nil { // which quotes the line
		return nil, nil, usagef("the headers cannot be read: give one per line, as in x-svc-signature: v0=…")
	}
	body, err := io.ReadAll(at)
	return http.Header(fields), body, err
}

// requireSigningSecret refuses settings without a signing secret.
func requireSigningSecret(s settings) error {
	if len(s.SigningSecrets()) == 0 {
		return usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or give --signing-secret-file")
	}
	return nil
}

// otherSecrets are the signing secrets of the configuration file's other profiles.
// Unreadable ones are left out: they only help to name a cause.
func otherSecrets(s settings, flags *pflag.FlagSet) (others []signature.Other) {
	file, _ := flags.GetString("config")
	file = cmp.Or(file, os.Getenv("TILLWATCH_CONFIG"))
	for _, name := range s.Profiles {
		other := pflag.NewFlagSet(name, pflag.ContinueOnError)
		config.AddFlags(other)
		_ = other.Parse([]string{"--config=" + file, "--profile=" + name})
		account, err := config.Load(other, nil)
		if err != nil || name == s.Chosen {
			continue
		}
		for _, secret := range account.SigningSecrets() {
			others = append(others, signature.Other{
				Secret: secret, Cause: signature.Secret, Whose: fmt.Sprintf("the profile %q", api.Scrub(name)),
			})
		}
	}
	return others
}
