package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
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
