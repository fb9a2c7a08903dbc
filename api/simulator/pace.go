package simulator

import (
	"math"
	"time"
)

// vary returns a random duration around t at speed 1.
func (c *Config) vary(d dice, t time.Duration) time.Duration {
	factor := 1.0
	if spread := c.Timings.Spread; spread > 0 {
		factor = min(max(math.Exp(d.NormFloat64()*spread), 0.4), 2.5)
	}
	return c.scaled(time.Duration(float64(t) * factor))
}

// took returns the duration of a step: the fated one, or if that is 0 about the
// configured one.
func (c *Config) took(d dice, fated, about time.Duration) time.Duration {
	if fated > 0 {
		return c.scaled(fated)
	}
	return c.vary(d, about)
}

func (c *Config) window() time.Duration { return c.scaled(c.Timings.ConfirmWindow) }

// scaled returns the duration t at the configured speed.
func (c *Config) scaled(t time.Duration) time.Duration { return span(float64(t) / c.Speed) }

// span returns a duration of ns nanoseconds, at most the longest one.
func span(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
