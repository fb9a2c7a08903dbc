package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
