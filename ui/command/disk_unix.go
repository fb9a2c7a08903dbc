//go:build linux || darwin || freebsd

package command

import "golang.org/x/sys/unix"

// freeSpace is how many bytes this user can still write in a folder.
func freeSpace(folder string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return uint64(max(int64(disk.Bavail), 0)) * uint64(disk.Bsize), nil
}
