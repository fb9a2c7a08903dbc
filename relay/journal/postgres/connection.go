package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	connectTimeout    = 5 * time.Second
	disconnectTimeout = time.Second
)

// sessionSettings apply to every connection. They are set once it is open: PgBouncer
// refuses them in a startup message. A relay writes, whatever the database's default is.
// One that freezes while it holds the lock must not stop the others for long: the server
// ends its transaction. A reported commit is on the disk, whatever the database's default
// is. Every event and id is found by an index: a plan made while the tables were empty must
// not read them whole.
const sessionSettings = `
SELECT set_config('default_transaction_read_only', 'off', false),
       set_config('idle_in_transaction_session_timeout', '5s', false),
       set_config('statement_timeout', '8s', false),
       set_config('enable_seqscan', 'off', false),
       set_config('enable_hashjoin', 'off', false),
       set_config('enable_mergejoin', 'off', false),
       set_config('jit', 'off', false),
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`

func prepareSession(ctx context.Context, connection *pgx.Conn) error {
	_, err := connection.Exec(ctx, sessionSettings)
	return err
}

// connect opens a connection outside the pool.
func connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	connection, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return nil, err
	}
	if err := prepareSession(ctx, connection); err != nil {
		disconnect(connection)
		return nil, err
	}
	return connection, nil
}

// disconnect closes a connection in any state; the server rolls back what was not
// committed. Its errors add nothing.
func disconnect(connection *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
	defer cancel()
	_ = connection.Close(ctx)
	select {
	case <-connection.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}
