package simulator

import (
	"net/http"
	"slices"

	"tillwatch/api"
)

func (s *Simulator) getShipment(r *http.Request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, known := s.parcels[r.PathValue("id")]
	if !known {
		return notFound("Shipment not found")
	}
	return ok(sh.shipmentWire)
}

func (s *Simulator) listShipments(r *http.Request) answer {
	q, refusal := readPage(r)
	if refusal != nil {
		return *refusal
	}
	ids, statuses, bad := filters(r, "ids", "status", func(status string) bool {
		return slices.Contains(api.ShipmentStatuses(), api.ShipmentStatus(status))
	})
	if bad != nil {
		return *bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return pageOf(q, len(s.shipments),
		func(i int) uint64 { return s.shipments[i].number },
		func(i int) (any, bool) {
			sh := s.shipments[i]
			if !ids.allows(sh.ID) || !statuses.allows(string(sh.Status)) {
				return nil, false
			}
			return sh.shipmentWire, true
		})
}
