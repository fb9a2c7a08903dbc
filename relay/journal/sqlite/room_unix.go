//go:build linux || darwin

package sqlite

import (
	"math"

	"golang.org/x/sys/unix"
)

// roomIn is how many bytes fit on the disk of folder dir; 0 when it is not known.
func roomIn(dir string) int64 {
	var found unix.Statfs_t
	if err := unix.Statfs(dir, &found); err != nil {
		return 0
	}
	return int64(min(uint64(found.Bavail)*uint64(found.Bsize), math.MaxInt64))
}
