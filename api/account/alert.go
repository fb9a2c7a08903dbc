package account

import (
	"time"

	"tillwatch/api"
)

// Alert is a condition that a person should know about. It is raised once and cleared when the condition ends.
type Alert struct {
	Kind   AlertKind `json:"kind"`
	Text   string    `json:"text"`
	Intent api.ID    `json:"intent,omitempty"` // the intent concerned; "" for none
	Order  api.Text  `json:"-"`                // the reference of the order concerned; "" for none. It never leaves the process
	Since  time.Time `json:"since,omitzero"`   // when it was raised, or when its condition began
	Due    time.Time `json:"due,omitzero"`     // when what Text announces happens; zero for none
	Cause  string    `json:"cause,omitempty"`  // tells apart alerts of one kind that concern no intent, or the same; "" if there is only one
}

// AlertKind says what an alert is about.
type AlertKind string

// The kinds of alerts.
const (
	AlertConfirm  AlertKind = "confirm" // the outcome of a confirm is unknown: above all others
	AlertRelay    AlertKind = "relay"
	AlertAPI      AlertKind = "api"
	AlertAwaiting AlertKind = "awaiting"
	AlertExpiring AlertKind = "expiring"
	AlertStuck    AlertKind = "stuck"
	AlertFailed   AlertKind = "failed"
	AlertOrder    AlertKind = "order" // some items of an order failed
	AlertQuota    AlertKind = "quota"
	AlertGap      AlertKind = "gap"
	AlertDay      AlertKind = "day"
	AlertSaving   AlertKind = "saving"
	AlertList     AlertKind = "watch list"
	AlertKey      AlertKind = "key"
	AlertSending  AlertKind = "sending"
	AlertClock    AlertKind = "clock" // this machine's differs from the service's

	AlertSignature AlertKind = "signature" // the relay receives wrongly signed deliveries
)

// AlertKinds lists all kinds.
func AlertKinds() []AlertKind {
	return []AlertKind{AlertConfirm, AlertRelay, AlertAPI, AlertAwaiting, AlertExpiring, AlertStuck, AlertFailed, AlertOrder, AlertQuota, AlertGap, AlertDay, AlertSaving, AlertList, AlertKey, AlertSending, AlertSignature, AlertClock}
}

// Spent is the Cause of an [AlertDay] when none of the day's intents is left. Its Due is when the first comes
// back.
const Spent = "spent"

// AlertConfig sets the thresholds of alerts; a threshold of 0 switches its alert off.
type AlertConfig struct {
	AwaitingAfter  time.Duration // how long an intent may await confirmation
	ExpiringWithin time.Duration // before the confirm window closes
	StuckAfter     time.Duration // how long placing an order may take while the account has no history
	StuckFactor    float64       // how many times the account's own 95th percentile it may take
	FailedFor      time.Duration // how long the alert of a failure stands
	PartlyFor      time.Duration // how long the alert of a partly failed order stands after its last item has ended
	RelayLostAfter time.Duration // how long the relay may be lost
	SilentAfter    int           // consecutive changes that reads found and no event reported
	QuotaWithin    time.Duration // how soon a bucket may be used up
	DayLeft        int           // how few of the day's intents may be left
}

// DefaultAlerts returns the default thresholds.
func DefaultAlerts() AlertConfig {
	return AlertConfig{
		AwaitingAfter: 20 * time.Minute, ExpiringWithin: 10 * time.Minute,
		StuckAfter: 5 * time.Minute, StuckFactor: 3, FailedFor: 5 * time.Minute, PartlyFor: time.Hour,
		RelayLostAfter: 10 * time.Second, SilentAfter: 3,
		QuotaWithin: 30 * time.Second, DayLeft: 5,
	}
}
