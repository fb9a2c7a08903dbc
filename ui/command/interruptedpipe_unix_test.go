//go:build unix

package command

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAnInterruptEndsACommandThatOpensAPipeWithoutAWriter(t *testing.T) {
	t.Parallel()
	config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "signing_secret", oldSecret)
	for _, args := range [][]string{
		{"sign", "--body", "PIPE"}, {"simulate", "--from", "PIPE"}, {"status", "--watch-ids", "PIPE"},
		{"doctor", "--config", "PIPE"}, {"relay", "--config", "PIPE"}, {"sign", "--signing-secret-file", "PIPE"},
	} {
		t.Run(args[0]+" "+args[1], func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // ends the reader that was left behind
				if writer, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
					_ = writer.Close()
				}
			})
			var given []string
			for _, arg := range args {
				if arg == "PIPE" {
					arg = pipe
				}
				given = append(given, arg)
			}
			if args[1] != "--config" {
				given = append(given, "--config", config)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			mustBeInterrupted(ctx, t, nil, given...)
		})
	}
}
