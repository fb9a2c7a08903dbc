package command

import (
	"context"

	"github.com/spf13/pflag"

	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/postgres"
	"tillwatch/relay/journal/sqlite"
)

// checkPostgresFlag refuses a password on the command line, without repeating it.
func checkPostgresFlag(flags *pflag.FlagSet) error {
	dsn, err := flags.GetString("postgres")
	if err != nil {
		return err
	}
	if flags.Changed("postgres") && postgres.CarriesPassword(dsn) {
		return usagef("--postgres must not hold a password, as other users can read a command line: " +
			"set TILLWATCH_POSTGRES or TILLWATCH_POSTGRES_FILE instead, or leave the password to PGPASSFILE")
	}
	return nil
}

// openJournal opens the configured database, or else the files in folder.
func openJournal(ctx context.Context, s settings, folder string) (journal.Journal, error) {
	if s.Postgres.IsZero() {
		return sqlite.Open(ctx, folder)
	}
	return postgres.Open(ctx, s.Postgres.Reveal())
}

// openTokens opens the tokens of the configured relays, in the database or else in the folder. close releases them.
func openTokens(ctx context.Context, s settings, folder string) (
	tokens relay.TokenStore, close func() error, err error,
) {
	if s.Postgres.IsZero() {
		return relay.NewTokenFile(folder), func() error { return nil }, nil
	}
	shared, err := postgres.OpenDocuments(ctx, s.Postgres.Reveal())
	if err != nil {
		return relay.TokenStore{}, nil, err
	}
	return relay.NewSharedTokens(shared), shared.Close, nil
}
