//go:build unix

package relay

import "syscall"

// descriptorLimit is how many files and connections this process may have open; 0 if unknown. The Go runtime
// raises it to the allowed maximum.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur)
}
