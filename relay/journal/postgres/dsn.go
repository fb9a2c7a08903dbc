package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	errDSN = errors.New("the PostgreSQL DSN cannot be read: give it as postgres://USER@HOST:5432/DATABASE or as " +
		"\"host=… user=… dbname=…\", with special characters of a URL percent-encoded")
	errVersion = errors.New("was written by another version of this program: name another database or search_path")
	errMissing = errors.New("has the tables of a journal, but not its state: restore it from a copy, or name another " +
		"database")
)

// parse reads dsn. Its error quotes nothing of it: any part could be the password.
func parse(dsn string) (*pgxpool.Config, error) {
	dsn = strings.TrimSpace(dsn)
	config, err := pgxpool.ParseConfig(dsn)
	var unreadable *fs.PathError
	switch {
	case errors.As(err, &unreadable):
		return nil, fmt.Errorf("the PostgreSQL DSN names a file that cannot be read: %w", unreadable.Err)
	case err != nil, dsn == "":
		return nil, errDSN
	}
	parameters := config.ConnConfig.RuntimeParams
	parameters["application_name"] = cmp.Or(parameters["application_name"], "tillwatch relay")
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, session)
		return err
	}
	return config, nil
}

// CarriesPassword reports whether dsn may contain a password. A password file, a client certificate and PGPASSWORD are
// ways to do without.
func CarriesPassword(dsn string) bool {
	texts := []string{dsn}
	if decoded, err := url.QueryUnescape(dsn); err == nil {
		texts = append(texts, decoded)
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), "password") {
			return true
		}
	}
	_, rest, isURL := strings.Cut(dsn, "://")
	if !isURL {
		return false
	}
	at := strings.LastIndexByte(rest, '@')
	return at >= 0 && strings.Contains(rest[:at], ":")
}

// explain turns an error of opening the journal into one sentence. What the server says names what is missing.
func explain(config *pgx.ConnConfig, err error) error {
	server := config.Host
	if !strings.HasPrefix(server, "/") {
		server = net.JoinHostPort(server, strconv.Itoa(int(config.Port)))
	}
	place := "the database " + strconv.Quote(config.Database) + " on " + server
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, errVersion), errors.Is(err, errMissing):
		return fmt.Errorf("%s %w", place, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("open the journal in %s: %w", place, err)
	case !errors.As(err, &refused):
		return fmt.Errorf("PostgreSQL on %s does not answer: start it, or correct the DSN (%w)", server, oneLine{err})
	}
	switch refused.Code {
	case "42501", "3F000": // insufficient_privilege, invalid_schema_name
		return fmt.Errorf("user %q lacks a privilege in %s: grant CREATE on the schema for the first relay, SELECT, INSERT, "+
			"UPDATE and DELETE on its tables for each, or name another search_path (%w)", config.User, place, oneLine{err})
	case "42P01", "42703", "42P07": // undefined_table, undefined_column, duplicate_table
		return fmt.Errorf("the tables in %s are not those of a journal: name another database or search_path (%w)",
			place, oneLine{err})
	}
	return fmt.Errorf("open the journal in %s as user %q: %w", place, config.User, oneLine{err})
}

// oneLine is an error whose text fits a line of a log.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

func (e oneLine) Unwrap() error { return e.error }
