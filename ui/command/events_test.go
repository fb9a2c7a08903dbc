package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const eventsToken = "the-token-of-the-events"

// startEvents starts a relay with deliveries from 1 to n and points the settings
// at it.
func startEvents(t *testing.T, n int) *relayed {
	t.Helper()
	dir := isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	t.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
	r := startRelayCommand(t, filepath.Join(dir, "relay"))
	t.Setenv("TILLWATCH_RELAY_URL", r.Listen)
	for i := 1; i <= n; i++ {
		r.deliver(t, i)
	}
	return r
}

// deliver posts event n: an odd one of a shipment, an even one of an intent.
func (r *relayed) deliver(t *testing.T, n int) {
	t.Helper()
	kind := "shipment.created"
	if n%2 == 0 {
		kind = "checkout_intent.completed"
	}
	if status := r.post(t, http.DefaultClient, oldSecret, eventOf(n, kind)); status != http.StatusOK {
		t.Fatalf("event %d: %d", n, status)
	}
}

// events runs tillwatch events until it ends.
func events(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var o, w bytes.Buffer
	code = run(t.Context(), append([]string{"events"}, args...), strings.NewReader(""), &o, &w)
	return code, o.String(), w.String()
}

func eventLines(t *testing.T, out string) (all []eventLine) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e eventLine
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, e)
	}
	return all
}

func seqs(lines []eventLine) string {
	var all []string
	for _, l := range lines {
		all = append(all, fmt.Sprint(l.Event.Seq))
	}
	return strings.Join(all, " ")
}

func TestEventsResumeExactlyByTheirCursorsFile(t *testing.T) {
	r := startEvents(t, 3)
	folder := filepath.Join(t.TempDir(), "missing", "folder")
	file := filepath.Join(folder, "at")
	next := func(types ...string) string {
		t.Helper()
		code, out, said := events(t, append([]string{"--json", "--cursor-file", file, "--since", "earliest"}, types...)...)
		if code != exitDone {
			t.Fatalf("%d %s", code, said)
		}
		return seqs(eventLines(t, out))
	}
	if got := next(); got != "1 2 3" {
		t.Errorf("first: %s", got)
	}
	if of, err := os.Stat(folder); err != nil || runtime.GOOS != "windows" && of.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v (%v), want it made for this user alone", of, err)
	}
	if got := next(); got != "" {
		t.Errorf("at once again: %s", got)
	}
	r.deliver(t, 4)
	if got := next("--type", "product.*"); got != "" {
		t.Errorf("of another type: %s", got)
	}
	r.deliver(t, 5)
	if got := next(); got != "5" {
		t.Errorf("behind what another type has skipped: %s", got)
	}
	others, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(others) != 1 {
		t.Errorf("beside the cursor are %v, %v", others, err)
	}
	writeFile(t, file, "nonsense")
	if code, _, said := events(t, "--cursor-file", file); code != exitUsage || !strings.Contains(said, "cursor") {
		t.Errorf("a damaged cursor: %d %s", code, said)
	}
}

func TestEventsEndEvenWhenNobodyReadsThem(t *testing.T) {
	startEvents(t, 2)
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"events"}, strings.NewReader(""), in, io.Discard) }()
	one := make([]byte, 1)
	if _, err := out.Read(one); err != nil { // the rest is never read
		t.Fatal(err)
	}
	interrupt()
	select {
	case <-code:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	_ = out.Close()
}

func TestALateEventIsMarked(t *testing.T) {
	r := startEvents(t, 0)
	body := func(id, second string) string {
		return fmt.Sprintf(`{"id":"%s","object":"event","type":"shipment.updated","createdAt":"2026-06-18T14:02:%s.000Z","source":{"type":"shipment","id":"shp_1"}}`, id, second)
	}
	for _, each := range []string{body("evt_b", "20"), body("evt_a", "10"), body("evt_c", "30")} {
		r.post(t, http.DefaultClient, oldSecret, each)
	}
	_, out, _ := events(t, "--json")
	all := eventLines(t, out)
	if len(all) != 3 || all[0].Event.Late || !all[1].Event.Late || all[2].Event.Late {
		t.Errorf("events are %s", out)
	}
}
