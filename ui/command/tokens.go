package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/relay"
)

func newTokens() *cobra.Command {
	command := &cobra.Command{
		Use:   "tokens",
		Short: "Create, list and revoke the tokens that a relay accepts",
		Long: "Create, list and revoke the tokens that a relay accepts. They are kept hashed in the relay's data folder; a running\n" +
			"relay notices a change within seconds. Scopes are stream (follow), read (events and bodies) and admin (metrics).",
	}
	command.AddCommand(newTokensCreate(), newTokensList(), newTokensRevoke())
	return command
}

func newTokensCreate() *cobra.Command {
	var (
		data, name string
		scopes     []string
		expires    timeSpan
		asJSON     bool
	)
	command := &cobra.Command{
		Use:     "create",
		Short:   "Create a token and print it, this once",
		Example: "tillwatch tokens create --name laptop --scope stream,read --expires 90d",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name == "" {
				return usagef("the token has no name: give --name, as in --name laptop")
			}
			allowed, err := relay.ParseScopes(scopes)
			if err != nil {
				return usage(err)
			}
			now := time.Now()
			end := time.Time{}
			if expires > 0 {
				end = now.Add(expires.duration()).UTC().Truncate(time.Second)
			}
			text, token := relay.NewToken(name, allowed, now.Truncate(time.Second), end)
			if err := relay.NewTokenFile(data).Add(token); err != nil {
				return usage(err)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(struct {
					Token string `json:"token"`
					tokenLine
				}{text.Reveal(), lineOf(token, now)})
			}
			fmt.Fprintf(c.ErrOrStderr(), "Token %s may %s. It is shown this once and kept nowhere:\n", token.Name, joined(token.Scopes))
			_, err = fmt.Fprintln(c.OutOrStdout(), text.Reveal())
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&data, "data", relayDir(), "folder of the relay's journal and tokens")
	flags.StringVar(&name, "name", "", "what the token is called in lists")
	flags.StringSliceVar(&scopes, "scope", []string{"stream"}, "what the token may do: stream, read, admin")
	flags.Var(&expires, "expires", "how long the token counts, such as 90d (default: for ever)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func newTokensList() *cobra.Command {
	var (
		data   string
		asJSON bool
	)
	command := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their texts, which nobody has",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			tokens, err := relay.NewTokenFile(data).Read()
			if err != nil {
				return err
			}
			return printTokens(c.OutOrStdout(), tokens, time.Now(), asJSON)
		},
	}
	command.Flags().StringVar(&data, "data", relayDir(), "folder of the relay's journal and tokens")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return command
}

func newTokensRevoke() *cobra.Command {
	var data string
	command := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token: streams that it opened end",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := relay.NewTokenFile(data).Remove(args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "Token %s is revoked. A running relay notices within seconds.\n", args[0])
			return nil
		},
	}
	command.Flags().StringVar(&data, "data", relayDir(), "folder of the relay's journal and tokens")
	return command
}

// tokenLine is a token as lists show it.
type tokenLine struct {
	Name    string        `json:"name"`
	Scopes  []relay.Scope `json:"scopes"`
	Created time.Time     `json:"created"`
	Expires time.Time     `json:"expires,omitzero"`
	Expired bool          `json:"expired"`
}

func lineOf(t relay.Token, now time.Time) tokenLine {
	return tokenLine{t.Name, t.Scopes, t.Created, t.Expires, t.Expired(now)}
}

func (l tokenLine) end() string {
	switch {
	case l.Expires.IsZero():
		return "never"
	case l.Expired:
		return "expired " + l.Expires.Format(time.RFC3339)
	}
	return l.Expires.Format(time.RFC3339)
}

func printTokens(w io.Writer, tokens []relay.Token, now time.Time, asJSON bool) error {
	encoder := json.NewEncoder(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(table, "NAME\tSCOPES\tCREATED\tEXPIRES")
	}
	for _, t := range tokens {
		line := lineOf(t, now)
		if asJSON {
			if err := encoder.Encode(line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", line.Name, joined(line.Scopes), line.Created.Format(time.RFC3339), line.end())
	}
	return table.Flush()
}

func joined(scopes []relay.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}
