//go:build unix

package relay

import "syscall"

// descriptorLimit is the number of files and connections that this process may
// have open; 0 when it cannot be told. The runtime raises it to what is allowed.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur)
}
