package account

import (
	"time"

	"tillwatch/api"
)

// Alert is something that a person should know. Each is raised once and cleared
// when it is over.
type Alert struct {
	Kind   AlertKind `json:"kind"`
	Text   string    `json:"text"`
	Intent api.ID    `json:"intent,omitempty"` // that it is about; "" for none
	Order  api.Text  `json:"-"`                // the reference of the order that it is about, within this process; "" for none
	Since  time.Time `json:"since,omitzero"`   // when it was raised, or what it is about began
	Due    time.Time `json:"due,omitzero"`     // by when what Text ends with comes about; zero when there is no such moment
	Cause  string    `json:"cause,omitempty"`  // distinguishes alerts of one kind that are about no intent; "" where there is but one
}

// AlertKind is what an alert is about.
type AlertKind string

// The kinds of alerts.
const (
	AlertRelay    AlertKind = "relay"
	AlertAPI      AlertKind = "api"
	AlertAwaiting AlertKind = "awaiting"
	AlertExpiring AlertKind = "expiring"
	AlertStuck    AlertKind = "stuck"
	AlertFailed   AlertKind = "failed"
	AlertOrder    AlertKind = "order" // one of several items failed; the alert is about that
	AlertQuota    AlertKind = "quota"
	AlertGap      AlertKind = "gap"
	AlertDay      AlertKind = "day"
	AlertSaving   AlertKind = "saving"
	AlertList     AlertKind = "watch list"
	AlertKey      AlertKind = "key"
	AlertSending  AlertKind = "sending"

	AlertSignature AlertKind = "signature" // deliveries to the relay have a wrong one
)

// AlertKinds lists them.
func AlertKinds() []AlertKind {
	return []AlertKind{AlertRelay, AlertAPI, AlertAwaiting, AlertExpiring, AlertStuck, AlertFailed, AlertOrder, AlertQuota, AlertGap, AlertDay, AlertSaving, AlertList, AlertKey, AlertSending, AlertSignature}
}

// Spent is the cause of an [AlertDay] that says that none of the day's intents is
// left. Its Due is when the first is back.
const Spent = "spent"

// AlertConfig sets the thresholds of alerts. 0 means the default, and what is
// below 0 never raises its alert.
type AlertConfig struct {
	AwaitingAfter  time.Duration // how long an intent may await confirmation; default 20 min
	ExpiringWithin time.Duration // before the confirm window closes; default 10 min
	StuckAfter     time.Duration // how long an order may be placed, while the account has no history; default 5 min
	StuckFactor    float64       // by how many times it may take longer than the account's own 95th percentile; default 3
	FailedFor      time.Duration // how long a failure stands; default 5 min
	PartlyFor      time.Duration // how long a partly failed order stands once all its items have ended; default 1 h
	RelayLostAfter time.Duration // how long the relay may be lost; default 10 s
	SilentAfter    int           // changes in a row that reads found and no event reported; default 3
	QuotaWithin    time.Duration // how soon a bucket may be used up; default 30 s
	DayLeft        int           // how few intents may be left of the day's; default 5
}

func (c AlertConfig) withDefaults() AlertConfig {
	unlessSet(&c.AwaitingAfter, 20*time.Minute)
	unlessSet(&c.ExpiringWithin, 10*time.Minute)
	unlessSet(&c.StuckAfter, 5*time.Minute)
	unlessSet(&c.StuckFactor, 3)
	unlessSet(&c.FailedFor, 5*time.Minute)
	unlessSet(&c.PartlyFor, time.Hour)
	unlessSet(&c.RelayLostAfter, 10*time.Second)
	unlessSet(&c.SilentAfter, 3)
	unlessSet(&c.QuotaWithin, 30*time.Second)
	unlessSet(&c.DayLeft, 5)
	return c
}

func unlessSet[T int | float64 | time.Duration](value *T, fallback T) {
	if *value == 0 {
		*value = fallback
	}
}
