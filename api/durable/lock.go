package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockRetry is how often a lock that another process holds is tried.
const lockRetry = 20 * time.Millisecond

// Exclusively runs do while no other process does so for the same path, with a lock file
// beside it. It creates the folder if needed, and waits for the others as long as within.
func Exclusively(ctx context.Context, path string, within time.Duration, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	switch _, err := lock.TryLockContext(waiting, lockRetry); {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("%s is being changed by another process: try again in a moment", path)
	case err != nil:
		return fmt.Errorf("locking %s: %w", path, err)
	}
	defer lock.Close()
	return do()
}
