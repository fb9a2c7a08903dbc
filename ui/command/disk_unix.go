//go:build linux || darwin || freebsd

package command

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

// spaceOf is the size of so many blocks; more than can be counted, as of some network disks, is the most that can.
func spaceOf(blocks, size int64) uint64 {
	beyond, bytes := bits.Mul64(uint64(max(blocks, 0)), uint64(size))
	if beyond > 0 {
		return math.MaxUint64
	}
	return bytes
}
