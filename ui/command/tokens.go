package command

import (
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
		Args: noArguments, RunE: showHelp, Use: "tokens",
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
	// A folder that is missing is mistyped, or away while a relay runs, which would then find another one in its place.
	with := func(do func(context.Context, relay.TokenStore, string, streams) (report, error)) func(*cobra.Command,
		[]string) error {
		return func(c *cobra.Command, args []string) error {
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			return reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
				if _, err := os.Stat(*folder); errors.Is(err, fs.ErrNotExist) && s.Postgres.IsZero() {
					return nil, usagef("there is no folder %s: is it mistyped, or away? A relay makes its folder "+
						"when it first starts", *folder)
				}
				tokens, closeTokens, err := openTokens(ctx, s, *folder)
				if err != nil {
					return nil, err
				}
				found, err := do(ctx, tokens, strings.Join(args, " "), std)
				return found, errors.Join(err, closeTokens())
			})(c, args)
		}
	}
	list := &cobra.Command{Use: "list", Short: "List the tokens: names, scopes and dates", Args: noArguments,
		RunE: with(listTokens)}
	jsonFlag(list.Flags(), "print one JSON object per line")
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token and end the streams that it opened", Args: oneArgument,
		RunE: with(func(ctx context.Context, tokens relay.TokenStore, name string, std streams) (report, error) {
			if err := tokens.Remove(ctx, name); err != nil {
				return nil, err
			}
			std.say("token %s is revoked; running relays notice within two seconds", name)
			return nil, nil
		}),
	}
	var (
		name    string
		scopes  []string
		expires time.Duration
	)
	create := &cobra.Command{
		Use: "create", Short: "Create a token and print it", Args: noArguments,
		Example: "tillwatch tokens create --name laptop --scope stream,read --expires 90d",
	}
	create.RunE = func(c *cobra.Command, args []string) error {
		text, token, err := tokenOf(name, scopes, expires)
		if err != nil {
			return usage(err)
		}
		return with(func(ctx context.Context, tokens relay.TokenStore, _ string, std streams) (report, error) {
			if err := tokens.Add(ctx, token); err != nil {
				return nil, err
			}
			std.say("token %s may %s; it is shown only now and stored nowhere", token.Name,
				strings.Join(asStrings(token.Scopes), ","))
			return madeToken{text, lineOf(token)}, nil
		})(c, args)
	}
	flags = create.Flags()
	flags.StringVar(&name, "name", "", "name of the token in lists")
	flags.StringSliceVar(&scopes, "scope", []string{"stream"}, "what the token may do: stream, read, report, admin")
	spanFlag(flags, &expires, "expires", "", "how long the token is valid, such as 90d (default: forever)")
	jsonFlag(flags, "print one JSON object")
	command.AddCommand(create, list, revoke)
	return command
}

// tokenOf makes a token, of which only the text lets anybody in.
func tokenOf(name string, scopes []string, expires time.Duration) (text string, token relay.Token, err error) {
	allowed, err := relay.ParseScopes(scopes)
	switch {
	case name == "":
		err = errors.New("the token needs a name, as in --name laptop")
	case err != nil:
	default:
		now, end := time.Now().Truncate(time.Second), time.Time{}
		if expires > 0 {
			end = now.Add(expires).UTC()
		}
		secret, made := relay.NewToken(name, allowed, now, end)
		text, token, err = secret.Reveal(), made, made.Check()
	}
	return text, token, err
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

func listTokens(ctx context.Context, tokens relay.TokenStore, _ string, _ streams) (report, error) {
	all, err := tokens.Read(ctx)
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
		rows = append(rows, []string{line.Name, strings.Join(asStrings(line.Scopes), ","),
			line.Created.Format(time.RFC3339), end})
	}
	if err != nil {
		return nil, err
	}
	return listOf(lines, table(rows...)), nil
}
