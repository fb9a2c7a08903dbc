package simulator

import (
	"slices"

	"tillwatch/api"
)

// ofShipment adapts an operation on the shipment that the path names.
func ofShipment(s *Simulator, run func(*shipment) answer) operation {
	return func(r *request) answer {
		sh := s.fulfilment.parcels[r.PathValue("id")]
		if sh == nil {
			return notFound("Shipment not found")
		}
		return run(sh)
	}
}

func (h *handlers) getShipment(sh *shipment) answer { return ok(sh.shipmentWire) }

func (h *handlers) listShipments(r *request) answer {
	var c checker
	q := c.page(r)
	ids, statuses := c.filter(r, "ids", nil), c.filter(r, "status", func(status string) bool {
		return slices.Contains(api.ShipmentStatuses(), api.ShipmentStatus(status))
	})
	return pageOf(c, q, &h.sim.fulfilment.shipments, func(sh *shipment) (any, bool) {
		return sh.shipmentWire, ids.allows(sh.ID) && statuses.allows(string(sh.Status))
	})
}

func (h *handlers) listIntentShipments(r *request) answer {
	var c checker
	q := c.page(r)
	if len(c) > 0 {
		return invalid(c)
	}
	return ofIntent(h.sim, func(_ *request, in *intent) answer {
		return pageOf(c, q, &h.sim.fulfilment.shipments, func(sh *shipment) (any, bool) { return sh.shipmentWire, sh.intent == in })
	})(r)
}
