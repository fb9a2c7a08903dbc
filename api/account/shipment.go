package account

import (
	"time"

	"tillwatch/api"
)

// Shipment is what is known of one shipment. It is immutable.
type Shipment struct {
	ID        api.ID        `json:"id"`
	IntentID  api.ID        `json:"intentId,omitempty"` // "" while not known
	Product   api.Text      `json:"product,omitempty"`  // of its intent; "" while not known
	Certainty Certainty     `json:"certainty"`
	ReadAt    time.Time     `json:"readAt,omitzero"`   // when the newest read was sent; zero when never read
	Latest    *api.Shipment `json:"latest,omitempty"`  // the newest read; nil when never read
	Missing   bool          `json:"missing,omitempty"` // the service answered 404 to the last read
	Version   uint64        `json:"-"`                 // of the store, when this last changed

	newest    time.Time // when the newest read was sent, whatever came of it
	lastEvent time.Time // the newest createdAt of an event
	ahead     int       // events that came since the newest read
	missing   int       // reads in a row that were answered 404
}

// updated returns the updatedAt of the newest read; zero when never read.
func (s *Shipment) updated() time.Time {
	if s.Latest == nil {
		return time.Time{}
	}
	return plausible(s.Latest.UpdatedAt)
}

// Status is the newest status that was read; "" when never read.
func (s *Shipment) Status() api.ShipmentStatus {
	if s.Latest == nil {
		return ""
	}
	return s.Latest.Status
}

// Late returns by how many whole days a shipment is past its estimate and has not
// been delivered; 0 when it is not, or when there is none.
func (s *Shipment) Late(now time.Time) (days int) {
	if s.Latest == nil || s.Latest.Tracking == nil || s.Latest.Tracking.Estimated.IsZero() || s.Status().Terminal() || !s.Latest.DeliveredAt.IsZero() {
		return 0
	}
	return max(int(now.Sub(s.Latest.Tracking.Estimated)/(24*time.Hour)), 0)
}
