package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay/signature"
)

type signOptions struct {
	body      string
	timestamp int64
	json      bool
}

func newSign() *cobra.Command {
	var o signOptions
	command := &cobra.Command{
		Use:   "sign",
		Short: "Sign a body as the service does, and print the four headers",
		Long: "Sign a body from stdin or a file as the service does, and print the four headers of a delivery. tillwatch trigger --body also delivers it. " +
			"The event's id and topic come from the body. The secret comes from TILLWATCH_SIGNING_SECRET or a file; if it has several lines, the first signs.",
		Example: "tillwatch sign < event.json > headers && curl -H @headers --data-binary @event.json http://127.0.0.1:3000/webhooks",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := signingSettings(c)
			if err != nil {
				return err
			}
			body, err := inputsOf(c).read("--body", cmp.Or(o.body, "-"))
			if err != nil {
				return err
			}
			return o.print(s, body, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	secretFileFlag(flags)
	flags.StringVar(&o.body, "body", "", "file with the exact body (default: stdin)")
	flags.Int64Var(&o.timestamp, "timestamp", 0, "Unix time of the delivery in seconds (default: now)")
	flags.BoolVar(&o.json, "json", false, "print the headers as one JSON object")
	return command
}

// secretFileFlag adds the flag for a file with signing secrets, which [settingsOf] reads. An
// empty path, as from an unset shell variable, is an error rather than no flag.
func secretFileFlag(flags *pflag.FlagSet) {
	path := func(text string) (string, error) {
		if text == "" {
			return "", errors.New("give the path of the file")
		}
		return text, nil
	}
	flags.Var(&writtenFlag[string]{to: new(string), read: path, kind: "string"}, "signing-secret-file",
		"file with the signing secret; during a rotation both, one per line (default: TILLWATCH_SIGNING_SECRET)")
}

// readSigningSecret reads the --signing-secret-file, if the command has one: it wins over
// the other sources. An empty file is refused, as nothing would be signed.
func (s *settings) readSigningSecret(flags *pflag.FlagSet) error {
	path, _ := flags.GetString("signing-secret-file")
	if path == "" {
		return nil
	}
	text, err := readSecretFile(path)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("%s holds no secret", path)
	}
	if err != nil {
		return usagef("reading the signing secret that --signing-secret-file names: %w", err)
	}
	s.SigningSecret = api.NewSecret(text)
	return nil
}

// signingSettings are settings with a signing secret.
func signingSettings(c *cobra.Command) (settings, error) {
	s, err := settingsOf(c)
	if err != nil {
		return s, err
	}
	if len(s.signingSecrets()) == 0 {
		return s, usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or give --signing-secret-file")
	}
	return s, nil
}

// otherSecrets are the signing secrets of the configuration file's other profiles.
// Unreadable ones are left out: they only help to name a cause.
func (s settings) otherSecrets(flags *pflag.FlagSet) (others []signature.Other) {
	for _, name := range s.Profiles {
		values, _, _, err := loadFile(flags, name, sources{})
		if err != nil || name == s.Chosen {
			continue
		}
		text := values.text("signing_secret")
		if path := values.text("signing_secret_file"); text == "" && path != "" {
			text, _ = readSecretFile(path)
		}
		for _, secret := range (settings{SigningSecret: api.NewSecret(text)}).signingSecrets() {
			others = append(others, signature.Other{Secret: secret, Cause: signature.Secret, Whose: fmt.Sprintf("the profile %q", api.Scrub(name))})
		}
	}
	return others
}

// print prints the headers. A body that is not an event is signed, too, with the id
// and type that it has.
func (o signOptions) print(s settings, body []byte, stdout, stderr io.Writer) error {
	event, _ := eventIn(body)
	warnOfEmptyHeaders(event, s.HeaderPrefix, stderr)
	headers, object := [][2]string{
		{s.HeaderPrefix + "signature", signature.Of(s.signingSecrets()[0], body).String()},
		{s.HeaderPrefix + "event-id", string(event.ID)},
		{s.HeaderPrefix + "timestamp", strconv.FormatInt(cmp.Or(o.timestamp, time.Now().Unix()), 10)},
		{s.HeaderPrefix + "topic", string(event.Type)},
	}, map[string]string{}
	text := ""
	for _, h := range headers {
		object[h[0]] = h[1]
		text += h[0] + ": " + h[1] + "\n"
	}
	return printed(stdout, o.json, object, text)
}
