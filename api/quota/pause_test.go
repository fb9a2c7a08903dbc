package quota

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// refused is a 429 of a per-second bucket.
func refused(retryAfter string) Outcome {
	o := Outcome{Status: http.StatusTooManyRequests, PerSecond: true, Header: http.Header{}}
	if retryAfter != "" {
		o.Header.Set("Retry-After", retryAfter)
	}
	return o
}

func TestAPerSecondRefusalPausesTheClass(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		least := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}
		permit := acquire(t, p, t.Context(), Reads)
		for i, pause := range least {
			permit.Done(refused(""))
			var wait time.Duration
			if wait, permit = waited(t, p, t.Context(), Reads); wait < pause || wait > 2*pause {
				t.Errorf("refusal %d: paused %v, want %v to %v", i+1, wait, pause, 2*pause)
			}
		}
		permit.Done(ok(9))
		permit = acquire(t, p, t.Context(), Reads)
		permit.Done(refused(""))
		if wait, _ := waited(t, p, t.Context(), Reads); wait < time.Second || wait > 2*time.Second {
			t.Errorf("after a success: paused %v, want 1 to 2 s", wait)
		}
	})
}

func TestPausesDiffer(t *testing.T) {
	pauses := map[time.Duration]bool{}
	for range 20 {
		bubble(t, func(t *testing.T) {
			p := NewPacer(PacerConfig{})
			acquire(t, p, t.Context(), Reads).Done(refused(""))
			wait, _ := waited(t, p, t.Context(), Reads)
			pauses[wait] = true
		})
	}
	if len(pauses) < 10 {
		t.Errorf("20 clients came back at %d moments", len(pauses))
	}
}

func TestABurstOfRefusalsIsOneStrike(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		var permits []Permit
		for range 8 {
			permits = append(permits, acquire(t, p, t.Context(), Reads))
		}
		for _, permit := range permits {
			permit.Done(refused(""))
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait < time.Second || wait > 2*time.Second {
			t.Errorf("paused %v, want that of one refusal", wait)
		}
	})
}

func TestRetryAfterWins(t *testing.T) {
	tests := []struct {
		name  string
		value func() string
		least time.Duration
		most  time.Duration
	}{
		{"seconds", func() string { return "7" }, 7 * time.Second, 7 * time.Second},
		{"a date", func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 9 * time.Second, 9 * time.Second},
		{"nothing, rounded down", func() string { return "0" }, time.Second, 2 * time.Second},
		{"absurd", func() string { return "999999" }, longestPause, longestPause},
		{"unreadable", func() string { return "soon" }, time.Second, 2 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				acquire(t, p, t.Context(), Reads).Done(refused(test.value()))
				if wait, _ := waited(t, p, t.Context(), Reads); wait < test.least || wait > test.most {
					t.Errorf("paused %v, want %v to %v", wait, test.least, test.most)
				}
			})
		})
	}
}

func TestARefusalThatDoesNotPassDoesNotPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		o := Outcome{Status: 429, Header: headers(`"mutations";r=2;t=1, "checkout-intents";r=0;t=86399`, `"mutations";q=5;w=1, "checkout-intents";q=50;w=86400`)}
		o.Header.Set("Retry-After", "86399")
		acquire(t, p, t.Context(), Mutations).Done(o)
		if wait, _ := waited(t, p, t.Context(), Mutations); wait != 0 {
			t.Errorf("a daily refusal paused the class for %v", wait)
		}
		for _, b := range p.Buckets(time.Now()) {
			if want := map[string]int64{"checkout-intents": 1}[b.Policy]; b.Rejected != want {
				t.Errorf("%s: %d rejected, want %d", b.Policy, b.Rejected, want)
			}
		}
	})
}

func TestARefusalPausesAClassThatOnlyOneBucketCounts(t *testing.T) {
	for _, test := range []struct {
		class Class
		want  time.Duration
	}{{Reads, time.Minute}, {Lookup, time.Minute}, {Mutations, 0}} {
		t.Run(string(test.class), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				o := Outcome{Status: 429, Header: headers(`"default";r=9;t=1`, `"default";q=10;w=1`)}
				o.Header.Set("Retry-After", "60")
				acquire(t, p, t.Context(), test.class).Done(o)
				if wait, _ := waited(t, p, t.Context(), test.class); wait != test.want {
					t.Errorf("paused %v, want %v", wait, test.want)
				}
			})
		})
	}
}

func TestARefusalIsKnownByItsFieldsWhereItsWordsSayNothing(t *testing.T) {
	tests := []struct {
		name           string
		limits, policy string
		pauses         bool
	}{
		{"the second is empty", `"a";r=0;t=1`, `"a";q=5;w=1`, true},
		{"the second and the day are empty", `"a";r=0;t=1, "b";r=0;t=9`, `"a";q=5;w=1, "b";q=50;w=86400`, false},
		{"the day is empty", `"b";r=0;t=9`, `"b";q=50;w=86400`, false},
		{"nothing is empty", `"a";r=3;t=1`, `"a";q=5;w=1`, false},
		{"nothing is told", ``, ``, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				acquire(t, p, t.Context(), Mutations).Done(Outcome{Status: 429, Header: headers(test.limits, test.policy)})
				if pauses := p.queue(Mutations).pause.refused; pauses != test.pauses {
					t.Errorf("pauses: %v, want %v", pauses, test.pauses)
				}
			})
		})
	}
}

func TestAfterARefusalOneRequestTriesFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		acquire(t, p, t.Context(), Reads).Done(refused(""))
		probe := acquire(t, p, t.Context(), Reads)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := p.Acquire(ctx, Reads); err == nil {
			t.Error("a second request went out before the first was let through")
		}
		probe.Done(ok(9))
		for range 9 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Errorf("waited %v after a success", wait)
			}
		}
	})
}
