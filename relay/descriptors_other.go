//go:build !unix

package relay

// descriptorLimit is 0: the system reports no limit.
func descriptorLimit() uint64 { return 0 }
