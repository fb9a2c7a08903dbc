package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestWhetherADSNCarriesAPassword(t *testing.T) {
	for dsn, want := range map[string]bool{
		"postgres://relay@db.example:5432/tillwatch":                  false,
		"postgresql:///tillwatch?host=/run/postgresql":                false,
		"postgres://db-1.example:5432,db-2.example:5433/tillwatch":    false,
		"postgres://relay@[::1]:5432/tillwatch?passfile=/run/pgpass":  false,
		"host=db.example user=relay dbname=tillwatch":                 false,
		"postgres://relay:hush@db.example/tillwatch":                  true,
		"postgres://relay:@db.example/tillwatch":                      true,
		"postgres://relay:a@b@db.example/tillwatch":                   true,
		"postgres://db.example/tillwatch?user=relay&password=hush":    true,
		"postgres://db.example/tillwatch?user=relay&pass%77ord=hush":  true,
		"postgres://db.example/tillwatch?sslpassword=hush":            true,
		"host=db.example user=relay password=hush dbname=tillwatch":   true,
		"host=db.example user=relay PASSWORD = hush dbname=tillwatch": true,
	} {
		if got := CarriesPassword(dsn); got != want {
			t.Errorf("%s: %v, want %v", dsn, got, want)
		}
	}
}

// isolated hides what else could give a password.
func isolated(t testing.TB) {
	empty := t.TempDir()
	t.Setenv("HOME", empty)
	for _, name := range []string{"PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE"} {
		t.Setenv(name, "")
	}
}

func FuzzNoPasswordIsOverlooked(f *testing.F) {
	for _, dsn := range []string{
		"postgres://relay:hush@db.example/tillwatch", "postgres://db.example/t?pass%77ord=hush", "host=h password='a b'",
		"postgresql://u%3Aser:x@/db", "user=a passfile=/etc/hosts", "postgres:///?password", "postgres://a:b", "://:@",
	} {
		f.Add(dsn)
	}
	isolated(f)
	f.Fuzz(func(t *testing.T, dsn string) {
		if strings.Contains(dsn, "passfile") || strings.Contains(dsn, "service") {
			return // names a file, which is how a password should be given
		}
		config, err := pgx.ParseConfig(dsn)
		if err == nil && config.Password != "" && !CarriesPassword(dsn) {
			t.Errorf("%q carries a password", dsn)
		}
	})
}

func TestDatabasesThatCannotBeOpened(t *testing.T) {
	isolated(t)
	const nobody = "127.0.0.1:1"
	for _, test := range []struct{ name, dsn, want string }{
		{"nothing", " ", "DSN cannot be read"},
		{"a malformed one", "postgres://relay:tell-nobody@db.example:port/x", "DSN cannot be read"},
		{"a malformed key", "tell-nobody", "DSN cannot be read"},
		{"a certificate that is not there", "postgres://relay:tell-nobody@" + nobody + "/x?sslmode=verify-full&sslrootcert=/absent", "names a file that cannot be read: no such file"},
		{"nobody listens", "postgres://relay:tell-nobody@" + nobody + "/tillwatch", "does not answer: start it, or correct the DSN"},
		{"blanks around it", " postgres://relay:tell-nobody@" + nobody + "/tillwatch\n", nobody + " does not answer: start it, or correct the DSN"},
	} {
		t.Run(test.name, func(t *testing.T) { expectRefusal(t, test.dsn, test.want) })
	}
}

func expectRefusal(t *testing.T, dsn, want string) {
	t.Helper()
	j, err := Open(t.Context(), dsn)
	if err == nil {
		_ = j.Close()
		t.Fatal("it was opened")
	}
	text := err.Error()
	if !strings.Contains(text, want) || strings.Contains(text, "\n") || strings.Contains(text, "tell-nobody") {
		t.Errorf("error is %q, want one line with %q", text, want)
	}
}

func TestServersThatRefuse(t *testing.T) {
	dsn := schema(t)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if config.Password != "" { // else the server may let everyone in
		t.Run("another password", func(t *testing.T) {
			expectRefusal(t, with(dsn, "password", "tell-nobody"), "password authentication failed")
		})
	}
	for _, test := range []struct {
		name, change string
		dsn          string
		want         string
	}{
		{"no such database", "", with(dsn, "dbname", "absent"), `database "absent" does not exist`},
		{"no such schema", "", with(dsn, "search_path", "absent"), "lacks a privilege in"},
		{"another version", "UPDATE tillwatch_journal SET version = 99", dsn, "was written by another version of this program"},
		{"no state", "DELETE FROM tillwatch_journal", dsn, "but not its state: restore it"},
		{"a foreign table", "DROP TABLE tillwatch_journal; CREATE TABLE tillwatch_journal ()", dsn, "not those of a journal"},
		{"a foreign table beside none", "DROP TABLE tillwatch_journal", dsn, "not those of a journal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.change != "" {
				j, err := Open(t.Context(), dsn)
				if err == nil {
					_ = j.Close()
				}
				execute(t, dsn, test.change)
			}
			expectRefusal(t, test.dsn, test.want)
		})
	}
	t.Run("an ended context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Open(ctx, dsn); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestWhatAMissingPrivilegeAsksFor(t *testing.T) {
	config, err := pgx.ParseConfig("postgres://relay@db.example/tillwatch")
	if err != nil {
		t.Fatal(err)
	}
	text := explain(config, &pgconn.PgError{Code: "42501", Message: "permission denied for table tillwatch_journal"}).Error()
	if want := "CREATE on the schema for the first relay, SELECT, INSERT, UPDATE and DELETE on its tables for each"; !strings.Contains(text, want) {
		t.Errorf("error is %q, want %q", text, want)
	}
}

func TestAConnectionAsksForNothingThatAPoolerRefuses(t *testing.T) {
	isolated(t)
	config, err := parse("postgres://relay@db.example/tillwatch")
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.ConnConfig.RuntimeParams {
		if name != "application_name" { // PgBouncer knows it
			t.Errorf("the startup message asks for %s", name)
		}
	}
}
