package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/relay"
)

func newTokens() *cobra.Command {
	command := &cobra.Command{
		Args:  noArguments,
		RunE:  showHelp,
		Use:   "tokens",
		Short: "Create, list and revoke the tokens that relays accept",
		Long: "Create, list and revoke the tokens that relays accept. They are stored as hashes, in the relay's data folder or in the " +
			"database that several relays share; use the relay's settings. Running relays notice a change within a second.\n\n" +
			"A token's scopes are stream (to follow), read (events and bodies), report (to report what a proxy observed) and admin (metrics).",
	}
	flags := command.PersistentFlags()
	sourceFlags(flags, "postgres")
	flags.String("data", relayDir(), "folder of the relay's journal and tokens")
	command.AddCommand(newTokensCreate(), newTokensList(), newTokensRevoke())
	return command
}

// withTokens calls do with the tokens of the settings. It never makes the relay's folder: one that is missing is
// mistyped, or away while a relay runs, which would then find another one in its place.
func withTokens(c *cobra.Command, do func(relay.TokenStore) error) error {
	if err := checkPostgresFlag(c.Flags()); err != nil {
		return err
	}
	s, err := settingsOf(c)
	if err != nil {
		return err
	}
	folder, err := c.Flags().GetString("data")
	if err != nil {
		return err
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && s.Postgres.IsZero() {
		return usagef("there is no folder %s: is it mistyped, or away? A relay makes its folder when it first starts", folder)
	}
	tokens, close, err := openTokens(c.Context(), s, folder)
	if err != nil {
		return err
	}
	return errors.Join(do(tokens), close())
}

func newTokensCreate() *cobra.Command {
	var (
		name    string
		scopes  []string
		expires time.Duration
		asJSON  bool
	)
	command := &cobra.Command{
		Use:     "create",
		Short:   "Create a token and print it",
		Example: "tillwatch tokens create --name laptop --scope stream,read --expires 90d",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if name == "" {
				return usagef("the token needs a name, as in --name laptop")
			}
			allowed, err := relay.ParseScopes(scopes)
			if err != nil {
				return usage(err)
			}
			now := time.Now()
			end := time.Time{}
			if expires > 0 {
				end = now.Add(expires).UTC().Truncate(time.Second)
			}
			text, token := relay.NewToken(name, allowed, now.Truncate(time.Second), end)
			if err := token.Check(); err != nil {
				return usage(err)
			}
			err = withTokens(c, func(tokens relay.TokenStore) error { return tokens.Add(c.Context(), token) })
			if err != nil {
				return err
			}
			if !asJSON {
				fmt.Fprintf(c.ErrOrStderr(), "Token %s may %s. It is shown only now and stored nowhere:\n", token.Name, strings.Join(asStrings(token.Scopes), ","))
			}
			return printed(c.OutOrStdout(), asJSON, struct {
				Token string `json:"token"`
				tokenLine
			}{text.Reveal(), lineOf(token, now)}, text.Reveal()+"\n")
		},
	}
	flags := command.Flags()
	flags.StringVar(&name, "name", "", "name of the token in lists")
	flags.StringSliceVar(&scopes, "scope", []string{"stream"}, "what the token may do: stream, read, report, admin")
	spanFlag(flags, &expires, "expires", "", "how long the token is valid, such as 90d (default: forever)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func newTokensList() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List the tokens: names, scopes and dates",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return withTokens(c, func(tokens relay.TokenStore) error {
				all, err := tokens.Read(c.Context())
				if err != nil {
					return err
				}
				return printTokens(c.OutOrStdout(), all, time.Now(), asJSON)
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return command
}

func newTokensRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token and end the streams that it opened",
		Args:  oneArgument,
		RunE: func(c *cobra.Command, args []string) error {
			err := withTokens(c, func(tokens relay.TokenStore) error { return tokens.Remove(c.Context(), args[0]) })
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "Token %s is revoked. Running relays notice within a second.\n", args[0])
			return nil
		},
	}
}

// tokenLine is a token in lists.
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
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var err error
	if !asJSON {
		_, err = fmt.Fprintln(table, "NAME\tSCOPES\tCREATED\tEXPIRES")
	}
	for _, t := range tokens {
		line := lineOf(t, now)
		text := fmt.Sprintf("%s\t%s\t%s\t%s\n", line.Name, strings.Join(asStrings(line.Scopes), ","), line.Created.Format(time.RFC3339), line.end())
		err = cmp.Or(err, printed(table, asJSON, line, text))
	}
	return cmp.Or(err, table.Flush())
}
