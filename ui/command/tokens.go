package command

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/relay"
	"tillwatch/ui/config"
)

func newTokens() *cobra.Command {
	command := &cobra.Command{
		Use:   "tokens",
		Short: "Create, list and revoke the tokens that relays accept",
		Long: "Create, list and revoke the tokens that relays accept. They are stored as hashes, in the relay's " +
			"data folder or in the database that several relays share; use the relay's settings. Running " +
			"relays notice a change within two seconds.\n\n" +
			"A token's scopes are stream (to follow), read (events and bodies), report (to report what a proxy " +
			"observed) and admin (metrics).",
	}
	flags := command.PersistentFlags()
	config.AddFlags(flags, "postgres")
	folder := flags.String("data", relayDir(), "folder of the relay's journal and tokens")
	list := &cobra.Command{
		Use: "list", Short: "List the tokens: names, scopes and dates",
		RunE: ofTokens(folder, listTokens),
	}
	jsonFlag(list.Flags(), "print one JSON object per line")
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token and end the streams that it opened",
		RunE: ofTokens(folder, func(c *cobra.Command, tokens relay.TokenStore, args []string) (report, error) {
			if err := tokens.Remove(c.Context(), args[0]); err != nil {
				return nil, err
			}
			streamsOf(c).say("token %s is revoked; running relays notice within two seconds", args[0])
			return nil, nil
		}),
	}
	var (
		name    string
		scopes  []string
		expires time.Duration
	)
	create := &cobra.Command{
		Use: "create", Short: "Create a token and print it",
		Example: "tillwatch tokens create --name laptop --scope stream,read --expires 90d",
		RunE: ofTokens(folder, func(c *cobra.Command, tokens relay.TokenStore, _ []string) (report, error) {
			allowed, err := relay.ParseScopes(scopes)
			now, end := time.Now().Truncate(time.Second), time.Time{}
			if expires > 0 {
				end = now.Add(expires).UTC()
			}
			secret, token := relay.NewToken(name, allowed, now, end)
			if err = cmp.Or(err, token.Check()); err != nil {
				return nil, usage(err)
			}
			if err := tokens.Add(c.Context(), token); err != nil {
				return nil, err
			}
			streamsOf(c).say("token %s may %s; it is shown only now and stored nowhere", name, strings.Join(scopes, ","))
			return madeToken{secret.Reveal(), lineOf(token)}, nil
		}),
	}
	flags = create.Flags()
	flags.StringVar(&name, "name", "", "name of the token in lists")
	flags.StringSliceVar(&scopes, "scope", []string{"stream"}, "what the token may do: stream, read, report, admin")
	spanFlag(flags, &expires, "expires", "", "how long the token is valid, such as 90d (default: forever)")
	jsonFlag(flags, "print one JSON object")
	command.AddCommand(create, list, revoke)
	return command
}

// ofTokens runs a command with the tokens of the relays that the settings and the folder name.
func ofTokens(folder *string, do func(*cobra.Command, relay.TokenStore, []string) (report, error)) func(
	*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := checkPostgresFlag(c.Flags()); err != nil {
			return err
		}
		return reporting(func(ctx context.Context, s settings, args []string, _ streams) (report, error) {
			// A missing folder is mistyped, or away while a relay runs, which would then find another in its place.
			if _, err := os.Stat(*folder); errors.Is(err, fs.ErrNotExist) && s.Postgres.IsZero() {
				return nil, usagef("there is no folder %s: is it mistyped, or away? A relay makes its folder "+
					"when it first starts", *folder)
			}
			tokens, closeTokens, err := openTokens(ctx, s, *folder)
			if err != nil {
				return nil, err
			}
			found, err := do(c, tokens, args)
			return found, errors.Join(err, closeTokens())
		})(c, args)
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

func lineOf(t relay.Token) tokenLine {
	return tokenLine{t.Name, t.Scopes, t.Created, t.Expires, t.Expired(time.Now())}
}

// madeToken is a token that was just made.
type madeToken struct {
	Token string `json:"token"`
	tokenLine
}

func (m madeToken) text() string { return m.Token + "\n" }

func listTokens(c *cobra.Command, tokens relay.TokenStore, _ []string) (report, error) {
	all, err := tokens.Read(c.Context())
	if err != nil {
		return nil, err
	}
	rows, lines := [][]string{{"NAME", "SCOPES", "CREATED", "EXPIRES"}}, []tokenLine{}
	for _, t := range all {
		line, end := lineOf(t), "never"
		if !line.Expires.IsZero() {
			end = line.Expires.Format(time.RFC3339)
		}
		if line.Expired {
			end = "expired " + end
		}
		lines = append(lines, line)
		rows = append(rows, []string{
			t.Name, strings.Join(asStrings(t.Scopes), ","), t.Created.Format(time.RFC3339), end,
		})
	}
	return listOf(lines, table(rows...)), nil
}
