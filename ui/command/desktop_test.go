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

func TestABrowserIsStartedOnlyWhereAPersonSeesIt(t *testing.T) {
	for _, c := range []struct {
		name, system, environ string
		noOpen                bool
		want                  string // why nothing is opened; "" when it is
	}{
		{"Linux with X", "linux", "DISPLAY=:0", false, ""},
		{"Linux with Wayland", "freebsd", "WAYLAND_DISPLAY=wayland-0", false, ""},
		{"Linux without a display", "linux", "TERM=xterm", false, "no display"},
		{"over SSH, although a display is forwarded", "linux", "DISPLAY=localhost:10.0 SSH_CONNECTION=1", false, "over SSH"},
		{"macOS", "darwin", "", false, ""},
		{"macOS over SSH", "darwin", "SSH_TTY=/dev/ttys1", false, "over SSH"},
		{"Windows", "windows", "", false, ""},
		{"not wanted", "linux", "DISPLAY=:0", true, "no_open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			getenv := func(name string) string {
				for _, one := range strings.Fields(c.environ) {
					if value, ok := strings.CutPrefix(one, name+"="); ok {
						return value
					}
				}
				return ""
			}
			b := browser(c.system, getenv, c.noOpen)
			if (b.Open == nil) != (c.want != "") || !strings.Contains(b.Closed, c.want) {
				t.Errorf("opens: %v, and says %q, want %q", b.Open != nil, b.Closed, c.want)
			}
		})
	}
}

func TestAnAddressIsAnArgumentOfAProgramAndNoShellReadsIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a shell script")
	}
	folder := t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > " + filepath.Join(folder, "got") + "\n[ -z \"$FAILS\" ] || exit 3\n"
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	open := browser("linux", func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] }, false).Open
	const address = "https://track.example/?a=1&b=$(touch x);c='d'"
	if err := open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "got")); err != nil || string(got) != "1\n"+address+"\n" {
		t.Errorf("the program got %q (%v)", got, err)
	}
	t.Setenv("FAILS", "yes")
	if err := open(t.Context(), address); err == nil || err.Error() != "xdg-open: exit status 3" {
		t.Errorf("error %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := open(t.Context(), address); err == nil || err.Error() != "there is no program xdg-open" {
		t.Errorf("error %v", err)
	}
}

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
