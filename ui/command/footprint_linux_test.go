package command

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// footprintEvents is the number of events that a journal holds before
// BenchmarkFootprint starts a relay on it and posts a tenth as many more.
var footprintEvents = flag.Int("footprint-events", 5000, "events in the journal of BenchmarkFootprint; the long form is 1000000")

// What a relay may take.
const (
	emptyAnswer   = 50 * time.Millisecond // from the process's start to its first 200
	emptyMemory   = 50_000_000
	filledAnswer  = time.Second
	filledMemory  = 90_000_000
	ingestMemory  = 150_000_000
	ingestSenders = 64
)

// BenchmarkFootprint builds the program and measures how soon after its start a
// relay answers 200 and how much memory it takes: on an empty journal, on one
// with -footprint-events, and while more are posted over 64 connections. Its
// long form takes half a minute:
//
//	go test ./ui/command -run '^$' -bench Footprint -benchtime 1x -footprint-events 1000000
func BenchmarkFootprint(b *testing.B) {
	program := builtProgram(b)
	filled := filepath.Join(b.TempDir(), "filled")
	fillJournal(b, filled, *footprintEvents)
	for b.Loop() {
		took, memory, stop := startedProgram(b, program, b.TempDir())
		stop()
		b.ReportMetric(took.Seconds()*1000, "empty-ms")
		b.ReportMetric(float64(memory)/1e6, "empty-MB")
		if took > emptyAnswer || memory > emptyMemory {
			b.Errorf("an empty relay answers after %v and takes %d bytes", took, memory)
		}

		took, memory, stop = startedProgram(b, program, filled)
		stop()
		b.ReportMetric(took.Seconds()*1000, "filled-ms")
		b.ReportMetric(float64(memory)/1e6, "filled-MB")
		if took > filledAnswer || memory > filledMemory {
			b.Errorf("a relay with %d events answers after %v and takes %d bytes", *footprintEvents, took, memory)
		}

		b.ReportMetric(float64(postedMemory(b, program, filled, *footprintEvents/10))/1e6, "ingest-MB")
	}
}

func TestAStartedRelayAnswersAndStaysSmallWhileEventsCome(t *testing.T) {
	t.Parallel()
	program, dir := builtProgram(t), filepath.Join(t.TempDir(), "relay")
	fillJournal(t, dir, 3000)
	if peak := postedMemory(t, program, dir, 2000); peak > ingestMemory {
		t.Errorf("the relay took %d bytes", peak)
	}
}

// builtProgram builds the program as its users have it.
func builtProgram(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tillwatch")
	build := exec.Command("go", "build", "-o", program, "tillwatch")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

func fillJournal(t testing.TB, dir string, events int) {
	t.Helper()
	j, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < events; n += 1000 {
		var entries []journal.Entry
		for i := n; i < min(n+1000, events); i++ {
			entries = append(entries, journal.Entry{
				ID: fmt.Sprintf("evt_ci_%032x_completed", i), Type: "checkout_intent.completed",
				Received: time.Now(), Origin: journal.Webhook, Body: make([]byte, 400),
			})
		}
		if _, err := j.Append(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// startedProgram starts a relay and returns how long after that its first 200
// came, and what it takes then. It runs until stop is called.
func startedProgram(t testing.TB, program, dir string) (took time.Duration, memory int64, stop func()) {
	t.Helper()
	began := time.Now()
	p, output := spawnProgram(t, program, dir, "--config", relayConfig(t))
	if !p.awaitReady(t, output) {
		t.Fatalf("the relay does not get ready: %s", p.said)
	}
	if status := postStatus(t, http.DefaultClient, p.Listen, paddedEvent(fmt.Sprintf("first-%d", began.UnixNano()))); status != http.StatusOK {
		t.Fatalf("the first event: %d", status)
	}
	took = time.Since(began)
	return took, p.memory(t, "VmRSS"), p.stop
}

// postedMemory posts events over many connections and returns the most that the
// relay took.
func postedMemory(t testing.TB, program, dir string, events int) int64 {
	t.Helper()
	p, output := spawnProgram(t, program, dir, "--config", relayConfig(t))
	defer p.stop()
	if !p.awaitReady(t, output) {
		t.Fatalf("the relay does not get ready: %s", p.said)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: ingestSenders}}
	defer client.CloseIdleConnections()
	run := time.Now().UnixNano()
	var posted atomic.Int64
	var senders sync.WaitGroup
	for range ingestSenders {
		senders.Go(func() {
			for n := posted.Add(1); n <= int64(events); n = posted.Add(1) {
				if status := postStatus(t, client, p.Listen, paddedEvent(fmt.Sprintf("%d-%d", run, n))); status != http.StatusOK {
					t.Errorf("event %d: %d", n, status)
					return
				}
			}
		})
	}
	senders.Wait()
	peak := p.memory(t, "VmHWM")
	if peak > ingestMemory {
		t.Errorf("the relay took %d bytes while %d events came", peak, events)
	}
	return peak
}

// paddedEvent is an event of 400 bytes.
func paddedEvent(id string) string {
	text := fmt.Sprintf(`{"id":"evt_%s","object":"event","type":"checkout_intent.completed",`+
		`"createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_1"},"padding":"`, id)
	return text + strings.Repeat("0", 398-len(text)) + `"}`
}

// postStatus posts a signed event and returns the status of its answer, 0 when
// none came.
func postStatus(t testing.TB, client *http.Client, url, body string) int {
	request, err := http.NewRequest(http.MethodPost, url+"/webhooks", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("x-svc-signature", signed(oldSecret, body))
	answer, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
