// Package durable replaces files: a crash of the process or the machine leaves either the
// old content or the new one, and no two processes change a file at once.
package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// temporary is the suffix of a file that is about to replace another.
const temporary = ".tmp"

// abandonedAfter is the age at which a temporary file counts as abandoned.
const abandonedAfter = time.Minute

// Replace gives the file at path new content that only its owner can read. It writes
// a temporary file beside it, syncs it and renames it. The folder must exist. After
// an error the file has its old content. A symbolic link stays, and what it leads to is
// replaced. Replace refuses what is not a regular file, such as a device.
func Replace(path string, write func(io.Writer) error) error {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "replace", Path: path, Err: errors.New("not a regular file")}
	}
	return ReplaceKeeping(path, "", write)
}

// ReplaceKeeping is like [Replace], but renames the old file, whatever it is, to previous,
// unless previous is "".
func ReplaceKeeping(path, previous string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err = write(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if previous != "" {
		if err := os.Rename(path, previous); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes the names in a folder durable. It succeeds on systems that cannot
// sync a folder: Windows does so by itself and refuses.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !os.IsPermission(err) {
		return err
	}
	return nil
}

// RemoveAbandoned removes the temporary files that interrupted calls of [Replace] left
// beside path. It ignores errors: such a file only takes space.
func RemoveAbandoned(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, filepath.Base(path)+".") || !strings.HasSuffix(name, temporary) {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), name))
		}
	}
}

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

// ReasonFirst puts the reason of a file's error before the path: a line that is cut
// short still shows it. Other errors are returned unchanged.
func ReasonFirst(err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("%w: %s", file.Err, file.Path)
	case errors.As(err, &link):
		return fmt.Errorf("%w: %s", link.Err, link.New)
	}
	return err
}
