package command

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tillwatch/api"
)

func TestAgesOfEventsCountByTheRelaysClock(t *testing.T) {
	const hour = time.Hour
	for name, off := range map[string]time.Duration{"the same": 0, "an hour behind": -hour, "three days ahead": 72 * hour} {
		t.Run(name, func(t *testing.T) {
			there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
			}))
			defer there.Close()
			for _, address := range []string{there.URL, there.URL + "/"} {
				o := eventsOptions{since: "5m"}
				config, err := eventsFrom(settings{RelayURL: address, RelayToken: api.NewSecret("a token of some length")}, o)
				if want := time.Now().Add(off - 5*time.Minute); err != nil || config.Since.Sub(want).Abs() > 3*time.Second {
					t.Errorf("5m ago is %v (%v), want %v", config.Since, err, want)
				}
			}
		})
	}
	t.Run("it does not answer", func(t *testing.T) {
		if at := (settings{RelayURL: "http://127.0.0.1:1"}).relayTime(); time.Since(at) > 2*relayTimeWithin {
			t.Errorf("it is %v, want this machine's time", at)
		}
	})
}
