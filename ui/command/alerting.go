package command

import (
	"time"

	"tillwatch/api/account"
)

// alertSettings are the thresholds of alerts: the table [alerts] of the
// configuration file, or TILLWATCH_ALERTS_…; 0 switches an alert off.
type alertSettings struct {
	AwaitingAfter    time.Duration `koanf:"awaiting_after"`
	ExpiringWithin   time.Duration `koanf:"expiring_within"`
	StuckAfter       time.Duration `koanf:"stuck_after"`
	StuckFactor      float64       `koanf:"stuck_factor"`
	FailedFor        time.Duration `koanf:"failed_for"`
	RelayLostAfter   time.Duration `koanf:"relay_lost_after"`
	RelaySilentAfter int           `koanf:"relay_silent_after"`
	QuotaWithin      time.Duration `koanf:"quota_within"`
	DayLeft          int           `koanf:"day_left"`
}

func defaultAlerts() alertSettings {
	return alertSettings{
		AwaitingAfter: 20 * time.Minute, ExpiringWithin: 10 * time.Minute,
		StuckAfter: 5 * time.Minute, StuckFactor: 3, FailedFor: 5 * time.Minute,
		RelayLostAfter: 10 * time.Second, RelaySilentAfter: 3,
		QuotaWithin: 30 * time.Second, DayLeft: 5,
	}
}

func (a alertSettings) check() error {
	for _, d := range []struct {
		name string
		span time.Duration
	}{
		{"awaiting_after", a.AwaitingAfter}, {"expiring_within", a.ExpiringWithin}, {"stuck_after", a.StuckAfter},
		{"failed_for", a.FailedFor}, {"relay_lost_after", a.RelayLostAfter}, {"quota_within", a.QuotaWithin},
	} {
		if d.span != 0 && d.span < time.Second {
			return usagef("alerts.%s is %v; it must be a second or more, with its unit as in \"5m\", or 0 for never", d.name, d.span)
		}
	}
	switch {
	case a.StuckFactor != 0 && !(a.StuckFactor >= 1):
		return usagef("alerts.stuck_factor is %v; it must be 1 or more, or 0 to go by stuck_after alone", a.StuckFactor)
	case a.RelaySilentAfter < 0:
		return usagef("alerts.relay_silent_after is %d; it must be a number of changes, or 0 for never", a.RelaySilentAfter)
	case a.DayLeft < 0:
		return usagef("alerts.day_left is %d; it must be a number of intents, or 0 for never", a.DayLeft)
	}
	return nil
}

func (a alertSettings) config() account.AlertConfig {
	return account.AlertConfig{
		AwaitingAfter: orNever(a.AwaitingAfter), ExpiringWithin: orNever(a.ExpiringWithin),
		StuckAfter: orNever(a.StuckAfter), StuckFactor: orNever(a.StuckFactor), FailedFor: orNever(a.FailedFor),
		RelayLostAfter: orNever(a.RelayLostAfter), SilentAfter: orNever(a.RelaySilentAfter),
		QuotaWithin: orNever(a.QuotaWithin), DayLeft: orNever(a.DayLeft),
	}
}

func orNever[T int | float64 | time.Duration](threshold T) T {
	if threshold == 0 {
		return -1
	}
	return threshold
}
