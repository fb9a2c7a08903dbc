package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"

	"tillwatch/relay"
	"tillwatch/ui/terminal"
)

// TestMain plays a program that paints, and answers every key.
func TestMain(m *testing.M) {
	if os.Getenv("MEASURE_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	if _, err := term.MakeRaw(os.Stdin.Fd()); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("painted")
	for key := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(key); err != nil {
			os.Exit(0)
		}
		os.Stdout.WriteString("!")
	}
}

func TestAProgramIsMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := readUsage(os.Getpid()); err == nil {
			t.Error("it is said what a process used where nobody knows")
		}
		return
	}
	m := measurement{width: 40, height: 10, starts: 2, presses: 3, idle: 20 * time.Millisecond}
	s := subject{name: "test", args: []string{os.Args[0]}, env: []string{"MEASURE_TEST_PROGRAM=1"}, keys: [2]string{"a", "b"}, ready: terminal.Painted}
	f, err := m.run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.firstPaint) != 2 || f.firstPaint[0] <= 0 || len(f.keys) != 3 || f.keys[0] <= 0 || f.resident <= 0 || f.idle.Bytes != 0 {
		t.Errorf("figures are %+v", f)
	}
	var line strings.Builder
	f.print(&line, s.name)
	if !strings.HasPrefix(line.String(), "  test ") || strings.Count(line.String(), "\n") != 1 {
		t.Errorf("the line is %q", line.String())
	}
}

func TestTheAccountHasWhatWasAskedFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := openAccount(ctx, t.TempDir(), 10, 35, 500)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.journal.Wait(ctx, 40); err != nil { // the stream goes on
		t.Errorf("waiting for live events: %v", err)
	}
	for path, want := range map[string]string{
		"/api/v1/checkout-intents/ci_1": `"id":"ci_1"`,
		"/api/v1/shipments/shp_1f":      `"checkoutIntentId":"` + fmt.Sprintf("ci_%032x", 310),
		"/api/v1/shipments?ids=shp_1":   `"data":[]`,
		"/api/v1/checkout-intents":      "not found",
	} {
		if got := get(t, a.serviceURL+path, ""); !strings.Contains(got, want) {
			t.Errorf("%s answers %s", path, got)
		}
	}
	events := get(t, a.relayURL+relay.EventsPath+"?limit=35", relayToken)
	for _, want := range []string{"checkout_intent.offer_retrieved", "checkout_intent.completed", "shipment.updated"} {
		if !strings.Contains(events, want) {
			t.Errorf("the relay has no %s: %s", want, events)
		}
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, url, token string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestWhatCannotBeMeasuredIsSaid(t *testing.T) {
	for name, args := range map[string][]string{
		"no starts":      {"-starts", "0"},
		"unknown viewer": {"-program", os.Args[0], "-only", "none", "-under", "lnav"},
		"no events":      {"-events", "-1"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: measured nevertheless", name)
		}
	}
	if _, err := readUsage(1 << 30); err == nil {
		t.Error("a process that is not there used something")
	}
}
