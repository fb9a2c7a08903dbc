//go:build unix

package command

import (
	"bytes"
	"os"
	"strings"
	"testing"

	tty "tillwatch/ui/terminal"
)

// TestHelpAndUsageErrorsAskTheTerminalNothing has a terminal that answers no question, as of
// docker run -t, expect and serial lines.
func TestHelpAndUsageErrorsAskTheTerminalNothing(t *testing.T) {
	t.Parallel()
	for _, environ := range []string{"TERM=xterm-256color", "TERM=dumb", "NO_COLOR=1"} {
		for _, args := range []string{
			"--help", "watch --help", "help confirm", "--no-color --help", "--version", "nosuch", "watch --nosuch", "confirm", "api",
		} {
			t.Run(environ+" "+args, func(t *testing.T) {
				t.Parallel()
				const script = `"$0" "$@"; read -r line; echo "the shell reads $line"`
				options := tty.Options{Env: []string{asProgram + "=1", environ}, Patience: patience}
				run, err := tty.Start(t.Context(), options, "sh", append([]string{"-c", script, os.Args[0]}, strings.Fields(args)...)...)
				if err != nil {
					t.Fatal(err)
				}
				if err := run.Type("typed ahead\r"); err != nil {
					t.Error(err)
				}
				_ = run.Wait() // kills a shell to which nothing is left to read
				var all bytes.Buffer
				chunks, _ := run.Chunks()
				for _, chunk := range chunks {
					all.Write(chunk.Bytes)
				}
				said := all.String()
				if !strings.Contains(said, "reads typed ahead") || strings.Contains(said, "\x1b]") || strings.Contains(said, "\x1b[c") {
					t.Errorf("the terminal shows %q", said)
				}
			})
		}
	}
}
