//go:build !linux && !windows

package sqlite

import "os"

// lockFile takes no lock: those of BSD would keep SQLite out, too. The folder's
// stands alone.
func lockFile(*os.File) (locked bool, err error) { return true, nil }
