package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

var errDSN = errors.New("the PostgreSQL DSN cannot be read: give it as postgres://USER@HOST:5432/DATABASE or as " +
	"\"host=… user=… dbname=…\", with special characters of a URL percent-encoded")

// parse reads dsn. Its error quotes nothing of a malformed DSN: any part of it could
// be the password.
func parse(dsn string) (*pgxpool.Config, error) {
	dsn = strings.TrimSpace(dsn)
	if dsn == "" {
		return nil, errDSN
	}
	config, err := pgxpool.ParseConfig(dsn)
	var unreadable *fs.PathError
	switch {
	case errors.As(err, &unreadable):
		return nil, fmt.Errorf("the PostgreSQL DSN names a file that cannot be read: %w", unreadable.Err)
	case err != nil:
		return nil, errDSN
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "tillwatch relay"
	}
	config.AfterConnect = prepareSession
	return config, nil
}

// CarriesPassword reports whether dsn may contain a password. A password file, a
// client certificate and PGPASSWORD are ways to do without.
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
