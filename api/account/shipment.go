package account

import (
	"time"

	"tillwatch/api"
)

// Shipment is what is known of one shipment. It is immutable.
type Shipment struct {
	ID        api.ID        `json:"id"`
	IntentID  api.ID        `json:"intentId,omitempty"` // "" while unknown
	Product   api.Text      `json:"product,omitempty"`  // name of its intent's product; "" while unknown
	Certainty Certainty     `json:"certainty"`
	ReadAt    time.Time     `json:"readAt,omitzero"`   // when the newest read was sent; zero if never read
	Latest    *api.Shipment `json:"latest,omitempty"`  // the newest read; nil if never read
	Missing   bool          `json:"missing,omitempty"` // the service answered 404 to the last read
	Version   uint64        `json:"-"`                 // of the store, when this last changed

	newest    time.Time // when the newest read was sent, whatever its outcome
	lastEvent time.Time // the newest createdAt of an event
	ahead     int       // events since the newest read
	missing   int       // consecutive reads that were answered 404
}

// updated returns the updatedAt of the newest read; zero if never read.
func (s *Shipment) updated() time.Time {
	if s.Latest == nil {
		return time.Time{}
	}
	return plausible(s.Latest.UpdatedAt)
}

// Status returns the status that the newest read showed; "" if never read.
func (s *Shipment) Status() api.ShipmentStatus {
	if s.Latest == nil {
		return ""
	}
	return s.Latest.Status
}

// Late returns how many whole days an undelivered shipment is past its estimate, in now's location; 0 if it is not
// late or has no estimate.
func (s *Shipment) Late(now time.Time) (days int) {
	if s.Latest == nil || s.Latest.Tracking == nil || s.Latest.Tracking.Estimated.IsZero() || s.Status().Terminal() || !s.Latest.DeliveredAt.IsZero() {
		return 0
	}
	return max(int(now.Sub(Estimate(s.Latest.Tracking.Estimated, now.Location()))/(24*time.Hour)), 0)
}
