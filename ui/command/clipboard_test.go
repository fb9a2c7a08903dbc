package command

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTmuxGetsWhatIsCopied(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program in the place of tmux is a shell script")
	}
	const text = "ci_1 \"it's\" $HOME; \\x\n€ 漢"
	for _, c := range []struct {
		name   string
		script string // in the place of tmux
		wants  string // what is wrong; "": nothing
	}{
		{"it takes the text", `printf '%s ' "$@" >"$OUT/args"; cat >"$OUT/text"`, ""},
		{"it fails", `echo "no server running" >&2; exit 1`, "copying with tmux: exit status 1"},
		{"it is an old one without -w", `[ "$2" != -w ]`, "copying with tmux"},
		{"it hangs", `exec sleep 60`, "copying with tmux"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			ctx := t.Context()
			if c.name == "it hangs" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
			}
			took := time.Now()
			err := clipboard(func(string) string { return "here" }, append(os.Environ(), "OUT="+out))(ctx, text)
			switch {
			case c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants)):
				t.Errorf("the error is %v, want %s", err, c.wants)
			case c.wants != "" && strings.Contains(err.Error(), "ci_1"), time.Since(took) > 20*time.Second:
				t.Errorf("after %v: %v", time.Since(took), err)
			case c.wants == "":
				args, _ := os.ReadFile(filepath.Join(out, "args"))
				got, _ := os.ReadFile(filepath.Join(out, "text"))
				if err != nil || string(args) != "load-buffer -w - " || string(got) != text {
					t.Errorf("tmux %s got %q, %v", args, got, err)
				}
			}
		})
	}
}

func TestWithoutTmuxTheTerminalIsAsked(t *testing.T) {
	if clipboard(func(string) string { return "" }, nil) != nil {
		t.Error("tmux is run where there is none")
	}
}
