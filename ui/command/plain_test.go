package command

import (
	"regexp"
	"strings"
	"testing"
)

func TestPlainModeWritesIntoAPipe(t *testing.T) {
	t.Parallel()
	code, out, words := invoke(t, "demo", "--plain", "--for", "2s", "--seed", "5")
	if code != exitDone || words != "" {
		t.Fatalf("exit %d: %s", code, words)
	}
	if !strings.Contains(out, " watching simulator 127.0.0.1:") {
		t.Errorf("it does not say what it watches:\n%s", out)
	}
	line := regexp.MustCompile(`^\d\d:\d\d:\d\d [a-z_.]+[: ][[:print:]×…–]+$`)
	for text := range strings.Lines(out) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("not a line of plain mode: %q", text)
		}
	}

	code, _, words = invoke(t, "demo", "--plain", "--headless")
	if code != exitUsage || !strings.Contains(words, "plain") {
		t.Errorf("with --headless: exit %d: %s", code, words)
	}
}
