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

// AlertConfig sets the thresholds of alerts; 0 never raises its alert.
type AlertConfig struct {
	AwaitingAfter  time.Duration // how long an intent may await confirmation
	ExpiringWithin time.Duration // before the confirm window closes
	StuckAfter     time.Duration // how long an order may be placed, while the account has no history
	StuckFactor    float64       // by how many times it may take longer than the account's own 95th percentile
	FailedFor      time.Duration // how long a failure stands
	PartlyFor      time.Duration // how long a partly failed order stands once all its items have ended
	RelayLostAfter time.Duration // how long the relay may be lost
	SilentAfter    int           // changes in a row that reads found and no event reported
	QuotaWithin    time.Duration // how soon a bucket may be used up
	DayLeft        int           // how few intents may be left of the day's
}

// DefaultAlerts are the usual thresholds.
func DefaultAlerts() AlertConfig {
	return AlertConfig{
		AwaitingAfter: 20 * time.Minute, ExpiringWithin: 10 * time.Minute,
		StuckAfter: 5 * time.Minute, StuckFactor: 3, FailedFor: 5 * time.Minute, PartlyFor: time.Hour,
		RelayLostAfter: 10 * time.Second, SilentAfter: 3,
		QuotaWithin: 30 * time.Second, DayLeft: 5,
	}
}
