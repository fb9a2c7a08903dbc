package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	errNewer   = errors.New("was written by a newer version of this program: upgrade this relay")
	errOlder   = errors.New("was written before the first release of this program: name another database or search_path")
	errTooOld  = errors.New("is older than PostgreSQL 13: upgrade it")
	errMissing = errors.New("has the tables of a journal, but not its state: restore it from a copy, or name another database")
)

// Codes of PostgreSQL's appendix A.
const (
	codeWrongPassword   = "28P01"
	codeNotAuthorized   = "28000"
	codeNoDatabase      = "3D000"
	codeNoPrivilege     = "42501"
	codeNoSchema        = "3F000"
	codeReadOnly        = "25006"
	codeTooMany         = "53300"
	codeUndefinedTable  = "42P01"
	codeDuplicateTable  = "42P07"
	codeUndefinedColumn = "42703"
)

// explain turns an error of opening the journal into one sentence that says what to do.
func explain(config *pgx.ConnConfig, err error) error {
	place := "the database " + strconv.Quote(config.Database) + " on " + serverName(config)
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("open the journal in %s: %w", place, err)
	case errors.Is(err, errNewer), errors.Is(err, errOlder), errors.Is(err, errTooOld), errors.Is(err, errMissing), errors.Is(err, errIncomplete):
		return fmt.Errorf("%s %w", place, err)
	case !errors.As(err, &refused):
		return fmt.Errorf("PostgreSQL on %s does not answer: start it, or correct the DSN (%w)", serverName(config), oneLine{err})
	}
	advice := ""
	switch refused.Code {
	case codeWrongPassword, codeNotAuthorized:
		advice = fmt.Sprintf("user %q is not allowed in: correct the user or the password", config.User)
	case codeNoDatabase:
		advice = "there is no such database: create it with createdb"
	case codeNoPrivilege:
		advice = fmt.Sprintf("user %q lacks a privilege: grant CREATE on the schema for the first relay, "+
			"SELECT, INSERT, UPDATE and DELETE on its tables for each", config.User)
	case codeNoSchema:
		advice = fmt.Sprintf("user %q may not create tables: grant CREATE on the schema, or name another one with search_path", config.User)
	case codeReadOnly:
		advice = "it is read-only: name the primary server"
	case codeTooMany:
		advice = "it has no connection left: raise max_connections, or lower pool_max_conns in the DSN"
	case codeUndefinedTable, codeUndefinedColumn, codeDuplicateTable:
		advice = "its tables are not those of a journal: name another database or search_path"
	default:
		return fmt.Errorf("open the journal in %s: %w", place, oneLine{err})
	}
	return fmt.Errorf("open the journal in %s: %s (%w)", place, advice, oneLine{refused})
}

func serverName(config *pgx.ConnConfig) string {
	if strings.HasPrefix(config.Host, "/") {
		return config.Host
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

// oneLine is an error whose text fits a line of a log.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

func (e oneLine) Unwrap() error { return e.error }
