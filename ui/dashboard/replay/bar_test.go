package replay

import (
	"testing"
	"time"
)

func TestACellOfTheScrubberStandsForItsMoment(t *testing.T) {
	const length = 100 * time.Second
	scrubber := track{from: 5, width: 11}
	for _, c := range []struct {
		name string
		x    int
		want time.Duration
	}{
		{"left of it", 0, 0}, {"its first cell", 5, 0}, {"its middle", 10, 50 * time.Second}, {"its last cell", 15,
			length}, {"right of it", 80, length},
	} {
		if got := scrubber.moment(c.x, length); got != c.want {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
	if got := scrubber.place(length, length); got != 10 {
		t.Errorf("the end is drawn in cell %d, want the last, 10", got)
	}
	if got := scrubber.place(0, 0); got != 0 {
		t.Errorf("an empty recording stands in cell %d", got)
	}
}

func TestPositionsAreSpelt(t *testing.T) {
	for at, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", 151 * time.Second: "2m31s", time.Hour + 2*time.Minute +
			3*time.Second: "1h2m3s",
	} {
		if got := spell(at); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}
