//go:build !linux

package sqlite

import "os"

func syncData(file *os.File) error { return file.Sync() }
