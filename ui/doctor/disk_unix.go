//go:build linux || darwin || freebsd

package doctor

import (
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes this user can still write in a folder.
func freeSpace(folder string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return spaceOf(int64(disk.Bavail), int64(disk.Bsize)), nil
}

// spaceOf returns the size of a number of blocks, at most [math.MaxUint64]: some network disks
// report more.
func spaceOf(blocks, size int64) uint64 {
	beyond, bytes := bits.Mul64(uint64(max(blocks, 0)), uint64(size))
	if beyond > 0 {
		return math.MaxUint64
	}
	return bytes
}
