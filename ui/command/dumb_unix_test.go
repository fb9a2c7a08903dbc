//go:build unix

package command

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tty "tillwatch/ui/terminal"
)

func TestATerminalThatCannotBeDrawnOnGetsLinesAndTheReason(t *testing.T) {
	t.Parallel()
	recorded := filepath.Join(t.TempDir(), "day.tillwatch")
	var words bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--headless", "--for", "1s", "--record", recorded}, strings.NewReader(""), io.Discard, &words); code != exitDone {
		t.Fatalf("recording: exit code %d: %s", code, &words)
	}
	account := configFile(t, "api_url", "http://127.0.0.1:9", "api_key", "key", "state_dir", t.TempDir())
	for _, c := range []struct {
		name string
		args []string
		line string // as --plain prints it
	}{
		{"demo", []string{"demo", "--for", "2s"}, "watching simulator"},
		{"watch", []string{"watch", "--config", account}, "watching 127.0.0.1:9, environment unknown"},
		{"replay", []string{"replay", recorded}, "watching simulator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			run, err := tty.Start(ctx, tty.Options{Width: 200, Height: 50, Env: []string{asProgram + "=1", "TERM=dumb"}}, os.Args[0], c.args...)
			if err != nil {
				t.Fatal(err)
			}
			var text string
			if err := run.WaitFor(ctx, func(screen string) bool { text = screen; return strings.Contains(screen, c.line) }); err != nil {
				t.Errorf("no line %q (%v):\n%s", c.line, err, text)
			}
			if err := run.Close(); err != nil {
				t.Error(err)
			}
			var all bytes.Buffer
			chunks, _ := run.Chunks()
			for _, chunk := range chunks {
				all.Write(chunk.Bytes)
			}
			first, _, _ := strings.Cut(all.String(), "\n")
			if want := "tillwatch: TERM=dumb: nothing can be drawn on this terminal, so a line is printed for each change, as with --plain"; strings.TrimSpace(first) != want {
				t.Errorf("it begins with %q, want %q", first, want)
			}
			if bytes.ContainsRune(all.Bytes(), '\x1b') {
				t.Errorf("control sequences are sent to it: %q", all.String())
			}
		})
	}
}
