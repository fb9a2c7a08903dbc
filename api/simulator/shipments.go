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
	return c.pageOf(q, len(h.sim.fulfilment.shipments), func(i int) (any, bool) {
		sh := h.sim.fulfilment.shipments[i]
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
		return c.pageOf(q, len(h.sim.fulfilment.shipments), func(i int) (any, bool) {
			return h.sim.fulfilment.shipments[i].shipmentWire, h.sim.fulfilment.shipments[i].intent == in
		})
	})(r)
}
