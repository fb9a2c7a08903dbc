//go:build !unix

package proxy

import "syscall"

// seesIdle is false: a read would need a goroutine to see whether its connection is still open, as net/http has.
const seesIdle = false

func nothingCame(syscall.RawConn) bool { return false }
