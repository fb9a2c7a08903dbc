package command

import (
	"bufio"
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

func TestEventsPrintsWhatIsStoredAndEnds(t *testing.T) {
	r := startEvents(t, 4)
	r.deliver(t, 2)
	code, out, said := events(t, "--json")
	if code != exitDone || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	all := eventLines(t, out)
	if seqs(all) != "1 2 3 4" {
		t.Fatalf("events are %s", seqs(all))
	}
	second := all[1]
	if second.Event.ID != "evt_2" || second.Event.Type != "checkout_intent.completed" || second.Event.Duplicates != 1 || second.Event.Origin != "webhook" ||
		!strings.HasSuffix(second.Cursor, ":2") || second.Event.CreatedAt.Second() != 2 || time.Since(second.Event.Received) > time.Hour {
		t.Errorf("the second is %+v", second)
	}
	if !strings.Contains(out, `","event":{"seq":2,"id":"evt_2","type":"checkout_intent.completed","sourceType":`) {
		t.Errorf("the event is not in the fields of account.Event: %s", out)
	}
	if strings.Contains(out, "hidden@example.com") || !strings.Contains(string(second.Body), `"email"`) {
		t.Errorf("a buyer's address is not masked in %s", second.Body)
	}
	code, out, _ = events(t)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || len(lines) != 4 || !strings.Contains(lines[1], second.Cursor) || !strings.Contains(lines[1], "delivered again 1×") {
		t.Errorf("for people:\n%s", out)
	}
	if strings.Index(lines[0], "shipment.created") != strings.Index(lines[1], "checkout_intent.completed") {
		t.Errorf("lines are not aligned:\n%s", out)
	}
}

func TestEventsBeginWhereSinceSays(t *testing.T) {
	r := startEvents(t, 4)
	_, out, _ := events(t, "--json")
	all := eventLines(t, out)
	for _, test := range []struct{ since, want string }{
		{all[1].Cursor, "3 4"},
		{all[3].Cursor, ""},
		{"1h", "1 2 3 4"},
		{"1d", "1 2 3 4"},
		{all[2].Event.Received.Format(time.RFC3339Nano), "3 4"},
		{time.Now().Add(time.Hour).Format(time.RFC3339), ""},
		{"earliest", "1 2 3 4"},
		{"latest", ""},
	} {
		code, out, said := events(t, "--json", "--since", test.since)
		if got := seqs(eventLines(t, out)); code != exitDone || got != test.want || said != "" {
			t.Errorf("since %s: %d %q %s, want %q", test.since, code, got, said, test.want)
		}
	}
	r.stop()
	for _, wrong := range []string{"yesterday", "a:b", "-1h"} {
		if code, _, said := events(t, "--since="+wrong); code != exitUsage {
			t.Errorf("since %s: %d %s", wrong, code, said)
		}
	}
}

func TestEventsSayThatTheirCursorCountsNoMore(t *testing.T) {
	startEvents(t, 2)
	code, out, said := events(t, "--json", "--since", "ANOTHER:7")
	if code != exitDone || seqs(eventLines(t, out)) != "1 2" || !strings.Contains(said, "another journal") {
		t.Errorf("%d %s %s", code, out, said)
	}
	_, out, _ = events(t, "--json", "--last", "1")
	epoch, _, _ := strings.Cut(eventLines(t, out)[0].Cursor, ":")
	code, out, said = events(t, "--json", "--since", epoch+":7")
	if code != exitDone || seqs(eventLines(t, out)) != "1 2" || !strings.Contains(said, "event 7, but the newest is event 2") {
		t.Errorf("%d %s %s", code, out, said)
	}
}

func TestEventsOfSomeTypes(t *testing.T) {
	startEvents(t, 4)
	code, out, said := events(t, "--json", "--type", "shipment.*")
	if code != exitDone || seqs(eventLines(t, out)) != "1 3" || said != "" {
		t.Errorf("%d %s %s", code, out, said)
	}
	code, out, said = events(t, "--json", "--type", "shipment.creatde", "--type", "checkout_intent.completed")
	if code != exitUsage || out != "" || !strings.Contains(said, "--type: no known event type matches shipment.creatde; the types are: ") {
		t.Errorf("%d %s %s", code, out, said)
	}
	if code, _, _ = events(t, "--type", "ship*ment"); code != exitUsage {
		t.Errorf("a * in the middle: %d", code)
	}
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

func TestEventsFollowUntilTheyAreStopped(t *testing.T) {
	r := startEvents(t, 2)
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	said := &utterances{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"events", "--follow", "--json"}, strings.NewReader(""), in, said)
		_ = in.Close()
	}()
	eventually(t, "it is live", func() bool { return strings.Contains(said.String(), "Live") })
	lines := bufio.NewScanner(out)
	next := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no more events: %s", said)
		}
		return seqs(eventLines(t, lines.Text()))
	}
	r.deliver(t, 3)
	if got := next(); got != "3" {
		t.Errorf("followed by %s", got)
	}
	r.deliver(t, 4)
	if got := next(); got != "4" {
		t.Errorf("then by %s", got)
	}
	interrupt()
	select {
	case got := <-code:
		if got != exitDone {
			t.Errorf("exit code %d: %s", got, said)
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
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

func TestEventsWithoutARelayEndWithOneSentence(t *testing.T) {
	isolate(t)
	for _, step := range []struct {
		name, value, want string
		code              int
	}{
		{"TILLWATCH_TEST_UNUSED", "", "TILLWATCH_RELAY_URL", exitUsage},
		{"TILLWATCH_RELAY_URL", "http://127.0.0.1:1", "TILLWATCH_RELAY_TOKEN", exitUsage},
		{"TILLWATCH_RELAY_TOKEN", eventsToken, "connect to the relay", exitFailed},
	} {
		t.Setenv(step.name, step.value)
		code, out, said := events(t)
		if code != step.code || !strings.Contains(said, step.want) || out != "" || strings.Contains(said, eventsToken) {
			t.Errorf("with %s: %d %s%s", step.name, code, out, said)
		}
	}
	startEvents(t, 1)
	t.Setenv("TILLWATCH_RELAY_TOKEN", "another-token-of-16")
	if code, _, said := events(t, "--follow"); code != exitFailed || !strings.Contains(said, "does not accept the token") {
		t.Errorf("with a wrong token: %d %s", code, said)
	}
}
