package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay/signature"
	"tillwatch/ui/config"
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
	sourceFlags(flags, "signing_secret_file")
	flags.StringVar(&o.body, "body", "", "file with the exact body (default: stdin)")
	flags.Int64Var(&o.timestamp, "timestamp", 0, "Unix time of the delivery in seconds (default: now)")
	flags.BoolVar(&o.json, "json", false, "print the headers as one JSON object")
	return command
}

// signingSettings are settings with a signing secret.
func signingSettings(c *cobra.Command) (settings, error) {
	s, err := settingsOf(c)
	if err != nil {
		return s, err
	}
	if len(s.SigningSecrets()) == 0 {
		return s, usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or give --signing-secret-file")
	}
	return s, nil
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

// print prints the headers. A body that is not an event is signed, too, with the id
// and type that it has.
func (o signOptions) print(s settings, body []byte, stdout, stderr io.Writer) error {
	event, _ := eventIn(body)
	warnOfEmptyHeaders(event, s.HeaderPrefix, stderr)
	headers, object := [][2]string{
		{s.HeaderPrefix + "signature", signature.Of(s.SigningSecrets()[0], body).String()},
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
