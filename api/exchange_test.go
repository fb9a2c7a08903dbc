package api

import (
	"net/http"
	"testing"
	"time"
)

func TestAnExchangeHasTheDateOfItsAnswer(t *testing.T) {
	const noon = "Mon, 23 Nov 2026 12:00:00 GMT"
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		status int
		header http.Header
		want   time.Time
	}{
		{"dated", 200, http.Header{"Date": {noon}}, at},
		{"refused and dated", 404, http.Header{"Date": {noon}}, at},
		{"not dated", 200, nil, time.Time{}},
		{"dated by no date", 200, http.Header{"Date": {"at noon"}}, time.Time{}},
		{"from a cache", 200, http.Header{"Date": {noon}, "Age": {"3600"}}, time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var seen Exchange
			client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.status)
			}, func(c *Config) { c.Observe = func(e Exchange) { seen = e } })
			_, _ = client.Shipment(t.Context(), "shp_1") // the body is none
			if !seen.Date.Equal(test.want) {
				t.Errorf("answered at %v, want %v", seen.Date, test.want)
			}
		})
	}
}

func TestAClockIsComparedWithTheMiddleOfASecondAndOfARequest(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name         string
		exchange     Exchange
		ahead, doubt time.Duration
		ok           bool
	}{
		{"no Date", Exchange{Sent: noon}, 0, 0, false},
		{"the same second", Exchange{Sent: noon.Add(500 * time.Millisecond), Date: noon}, 0, 500 * time.Millisecond, true},
		{"an answer of four seconds", Exchange{Sent: noon, Latency: 4 * time.Second, Date: noon.Add(time.Second)}, 500 * time.Millisecond, 2500 * time.Millisecond, true},
		{"an hour behind", Exchange{Sent: noon.Add(500 * time.Millisecond), Date: noon.Add(time.Hour)}, -time.Hour, 500 * time.Millisecond, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if ahead, doubt, ok := test.exchange.ClockAhead(); ahead != test.ahead || doubt != test.doubt || ok != test.ok {
				t.Errorf("%v ahead, within %v, %v; want %v, %v, %v", ahead, doubt, ok, test.ahead, test.doubt, test.ok)
			}
		})
	}
}
