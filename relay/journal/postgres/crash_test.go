package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"

	"tillwatch/relay/journal"
)

// childJournal is the DSN that a child process of these tests appends to until
// it is killed.
const childJournal = "TILLWATCH_TEST_JOURNAL"

func appendForEver(dsn string) error {
	j, err := Open(context.Background(), dsn)
	if err != nil {
		return err
	}
	_, err = j.Append(context.Background(), []journal.Entry{{ID: fmt.Sprint(os.Getpid())}})
	return errors.Join(err, j.Close())
}
