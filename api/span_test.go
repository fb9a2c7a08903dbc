package api_test

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestASpanHasNoUnitThatSaysNothing(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "0s", 1234 * time.Millisecond: "1.2s", 59 * time.Second: "59s", 59960 * time.Millisecond: "1m", 90 * time.Second: "1m30s", 38 * time.Minute: "38m",
		10 * time.Hour: "10h", 10*time.Hour + 10*time.Second: "10h0m10s", 36 * time.Hour: "36h", 2 * day: "2d",
		2*day + 29*time.Minute: "2d", 3*day - time.Minute: "3d", 54268*time.Hour + 3*time.Second: "2261d4h",
	} {
		if got := api.Span(d); got != want {
			t.Errorf("%v is written %s, not %s", d, got, want)
		}
	}
}
