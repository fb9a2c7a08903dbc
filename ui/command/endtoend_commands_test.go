package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTheDemoWithoutAScreenPrintsTheStateEverySecond(t *testing.T) {
	t.Parallel()
	var reports []snapshot
	living := func(line string) bool {
		reports = append(reports, decodeReports(t, []byte(line))...)
		r := reports[len(reports)-1]
		return len(reports) > 2 && r.Relay.State == "live" && r.Events.Received > 0 && count(r.Intents["completed"]) > 0 && len(r.Quota) > 0
	}
	code, out, words := invokeUntil(t, living, "demo", "--headless", "--json", "--seed", "5")
	if code != exitDone || words != "" {
		t.Fatalf("exit code %d, %s\n%s", code, words, out)
	}
	if last := reports[len(reports)-1]; last.Environment != "simulator" || len(reports) < 3 {
		t.Errorf("after %d reports the demo says %+v", len(reports), last)
	}
	if code, out, words := invoke(t, "demo", "--headless", "--json", "--for", "1ms"); code != exitDone || words != "" || len(decodeReports(t, []byte(out))) == 0 {
		t.Errorf("for a moment: exit code %d, %s\n%s", code, words, out)
	}
}

func TestATerminalThatGoesAwayEndsTheDemoInGoodOrder(t *testing.T) {
	isolate(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
	out, written := io.Pipe()
	var words bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		defer written.Close()
		ended <- run(t.Context(), []string{"demo", "--headless"}, strings.NewReader(""), written, &words)
	}()
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d: %s", code, words.String())
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "tillwatch-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
