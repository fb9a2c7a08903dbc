package pane

import (
	"testing"
	"time"
)

func TestWhatIsPastTicksOnlyWhileItIsYoung(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 9999 * time.Millisecond: "9s", 10 * time.Second: "10s", 19 * time.Second: "10s",
		59 * time.Second: "50s", time.Minute: "1m", 119 * time.Second: "1m", 3 * time.Hour: "3h",
	} {
		if got := Past(d); got != want {
			t.Errorf("Past(%v) = %q, want %q", d, got, want)
		}
	}
}
