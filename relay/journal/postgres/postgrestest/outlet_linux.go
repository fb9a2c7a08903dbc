package postgrestest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// outlet is the standard error of the go command that runs this test.
func outlet() (io.WriteCloser, error) {
	parent := os.Getppid()
	process := fmt.Sprintf("/proc/%d/", parent)
	if name, err := os.ReadFile(process + "comm"); err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil, errors.New("no go command runs this test")
	}
	if file, err := shared(parent, unix.Stderr); err == nil {
		return file, nil
	}
	file, err := os.OpenFile(process+"fd/"+strconv.Itoa(unix.Stderr), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	// In a file that is not appended to, go would write over what stands there.
	if info, err := file.Stat(); err != nil || info.Mode().IsRegular() {
		_ = file.Close()
		return nil, errors.Join(errors.New("go writes to a file"), err)
	}
	return file, nil
}

// shared is an open file of another process, which the two have in common.
func shared(process, descriptor int) (*os.File, error) {
	handle, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(handle)
	copied, err := unix.PidfdGetfd(handle, descriptor, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(copied), "the standard error of go"), nil
}
