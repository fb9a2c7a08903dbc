package command

import (
	"time"

	"tillwatch/api/account"
)

// alertSettings are the thresholds of alerts: the table [alerts] of the
// configuration file, or TILLWATCH_ALERTS_…; 0 switches an alert off.
type alertSettings struct {
	AwaitingAfter    time.Duration
	ExpiringWithin   time.Duration
	StuckAfter       time.Duration
	StuckFactor      float64
	FailedFor        time.Duration
	PartlyFor        time.Duration
	RelayLostAfter   time.Duration
	RelaySilentAfter int
	QuotaWithin      time.Duration
	DayLeft          int
}

func defaultAlerts() alertSettings {
	return alertSettings{
		AwaitingAfter: 20 * time.Minute, ExpiringWithin: 10 * time.Minute,
		StuckAfter: 5 * time.Minute, StuckFactor: 3, FailedFor: 5 * time.Minute, PartlyFor: time.Hour,
		RelayLostAfter: 10 * time.Second, RelaySilentAfter: 3,
		QuotaWithin: 30 * time.Second, DayLeft: 5,
	}
}

func (a alertSettings) config() account.AlertConfig {
	return account.AlertConfig{
		AwaitingAfter: orNever(a.AwaitingAfter), ExpiringWithin: orNever(a.ExpiringWithin),
		StuckAfter: orNever(a.StuckAfter), StuckFactor: orNever(a.StuckFactor), FailedFor: orNever(a.FailedFor), PartlyFor: orNever(a.PartlyFor),
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
