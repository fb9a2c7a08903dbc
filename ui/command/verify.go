package command

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/signature"
	"tillwatch/ui/config"
)

// requestBytes bounds a request: the largest body that a relay takes, and headers.
const requestBytes = relay.MaxBody + http.DefaultMaxHeaderBytes

type verifyOptions struct {
	body, request  string
	headers        []string
	diagnose, json bool
}

func newVerify() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check the signature of a delivery, and name why it is wrong",
		Long: "Check the signature of a delivery: a body with the given headers, or a raw request (headers, a blank line, the body) " +
			"from stdin or a file. With --diagnose, likely faults are undone one after another until the signature fits. " +
			"The secret comes from TILLWATCH_SIGNING_SECRET or a file. The exit code is 0 if the signature is right (a timestamp that a receiver may refuse is a warning), and 1 if it is wrong.",
		Example: "tillwatch verify --request delivery.http --diagnose\n" +
			"tillwatch verify --body body.json --header 'x-svc-signature: v0=…' --diagnose\ntillwatch sign --body event.json | tillwatch verify --request - --body event.json",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := signingSettings(c)
			if err != nil {
				return err
			}
			d := signature.Delivery{Prefix: s.HeaderPrefix, Secrets: s.SigningSecrets(), Now: time.Now()}
			if o.diagnose {
				d.Others = otherSecrets(s, c.Flags())
			}
			if d.Header, d.Body, err = o.read(inputsOf(c)); err != nil {
				return err
			}
			return o.report(signature.Diagnose(d), c.OutOrStdout())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	config.AddSettingFlags(flags, "signing_secret_file")
	flags.StringVar(&o.body, "body", "", "file with the exact body (default: stdin)")
	flags.StringArrayVarP(&o.headers, "header", "H", nil, "header of the delivery, as in 'x-svc-signature: v0=…' (repeatable)")
	flags.StringVar(&o.request, "request", "", "file with the headers or the whole HTTP request (- is stdin; default without --header)")
	flags.BoolVar(&o.diagnose, "diagnose", false, "name the likely cause of a wrong signature")
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON object")
	return command
}

// read is the delivery from flags and stdin.
func (o verifyOptions) read(in *inputs) (http.Header, []byte, error) {
	header, body, whole := http.Header{}, []byte(nil), false
	if o.body == "-" && o.request == "" && len(o.headers) == 0 {
		return nil, nil, usagef("which headers came with the body? give --header 'x-svc-signature: v0=…', or --request with a file of them")
	}
	if o.request != "" || len(o.headers) == 0 {
		in.most = requestBytes
		raw, err := in.read("--request", cmp.Or(o.request, "-"))
		in.most = 0
		if err == nil {
			header, body, whole, err = parseRequest(raw)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, line := range o.headers {
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, nil, usagef("--header is %s; it must be a name and a value, as in 'x-svc-signature: v0=…'", config.Shown(line))
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if whole && o.body == "" {
		return header, body, nil
	}
	if o.body == "" && (o.request == "-" || len(o.headers) == 0 && o.request == "") {
		return nil, nil, usagef("stdin has headers but no body: append a blank line and the body, or give its file with --body")
	}
	body, err := in.read("--body", cmp.Or(o.body, "-"))
	return header, body, err
}

// parseRequest splits a request into its optional first line, its headers, and the
// exact body after a blank line.
func parseRequest(raw []byte) (header http.Header, body []byte, whole bool, err error) {
	if first, rest, found := bytes.Cut(raw, []byte("\n")); found && bytes.Contains(first, []byte(" HTTP/")) {
		raw = rest
	}
	at := bufio.NewReader(bytes.NewReader(raw))
	fields, err := textproto.NewReader(at).ReadMIMEHeader()
	whole = err == nil
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, false, usagef("the headers cannot be read: give one per line, as in x-svc-signature: v0=…")
	}
	header = http.Header(fields)
	var content io.Reader = at
	if strings.EqualFold(header.Get("Transfer-Encoding"), "chunked") {
		content = httputil.NewChunkedReader(at)
	}
	if body, err = io.ReadAll(content); err != nil {
		return nil, nil, false, usagef("the body of the request cannot be read: %w", err)
	}
	if n, err := strconv.Atoi(header.Get("Content-Length")); err == nil && 0 <= n && n < len(body) {
		body = body[:n] // an editor has appended a line break
	}
	return header, body, whole, nil
}

// report prints the result. A wrong signature is an error.
func (o verifyOptions) report(found signature.Diagnosis, stdout io.Writer) error {
	if !o.diagnose && !found.Valid && found.Cause != signature.Missing {
		found = signature.Diagnosis{}
	}
	wrong := error(nil)
	if !found.Valid {
		found.Text = cmp.Or(found.Text, "--diagnose names the likely cause")
		wrong = fmt.Errorf("the signature is wrong: %s", found.Text)
	}
	text := ""
	if found.Valid {
		text = strings.TrimSuffix("the signature is right: "+string(api.Scrub(found.Text)), ": ") + "\n"
	}
	return errors.Join(printed(stdout, o.json, found, text), wrong)
}
