package simulator

import (
	"slices"

	"tillwatch/api"
)

// ofShipment is an operation on the shipment that the path names.
func (s *Simulator) ofShipment(run func(*shipment) answer) operation {
	return func(r *request) answer {
		sh := s.parcels[r.PathValue("id")]
		if sh == nil {
			return notFound("Shipment not found")
		}
		return run(sh)
	}
}

func (s *Simulator) getShipment(sh *shipment) answer { return ok(sh.shipmentWire) }

func (s *Simulator) listShipments(r *request) answer {
	var c checker
	q := c.page(r)
	ids, statuses := c.filter(r, "ids", nil), c.filter(r, "status", func(status string) bool {
		return slices.Contains(api.ShipmentStatuses(), api.ShipmentStatus(status))
	})
	return c.pageOf(q, len(s.shipments), func(i int) (any, bool) {
		sh := s.shipments[i]
		return sh.shipmentWire, ids.allows(sh.ID) && statuses.allows(string(sh.Status))
	})
}

func (s *Simulator) listIntentShipments(r *request) answer {
	var c checker
	q := c.page(r)
	if len(c) > 0 {
		return invalid(c)
	}
	return s.ofIntent(func(_ *request, in *intent) answer {
		return c.pageOf(q, len(s.shipments), func(i int) (any, bool) {
			return s.shipments[i].shipmentWire, s.shipments[i].intent == in
		})
	})(r)
}
