package account

import (
	"tillwatch/api"
)

// packParcel packs a read of a shipment into one piece of memory, as [packRead]
// does with one of an intent. It leaves out the body.
func packParcel(sh *api.Shipment) string {
	p := packer{bytes: make([]byte, 0, 512)}
	p.text(string(sh.IntentID))
	p.text(string(sh.MarketplaceOrderID))
	p.text(string(sh.ExternalID))
	p.status(sh.Status)
	p.day(instantOf(sh.CreatedAt))
	p.day(instantOf(sh.UpdatedAt))
	p.day(instantOf(sh.ShippedAt))
	p.day(instantOf(sh.DeliveredAt))
	if t := sh.Tracking; p.flag(t != nil) {
		p.text(string(t.Carrier))
		p.text(string(t.Number))
		p.text(string(t.URL))
		p.day(instantOf(t.Estimated))
	}
	p.uint(uint64(len(sh.TrackingEvents)))
	for i := range sh.TrackingEvents {
		e := &sh.TrackingEvents[i]
		p.status(e.Status)
		p.text(string(e.Description))
		p.text(string(e.City))
		p.text(string(e.Province))
		p.text(string(e.Country))
		p.day(instantOf(e.At))
	}
	return string(p.bytes)
}

// unpackParcel makes a read of what was packed of a shipment.
func unpackParcel(packed string, id api.ID) *api.Shipment {
	u := unpacker{rest: packed}
	sh := &api.Shipment{
		ID: id, IntentID: api.ScrubID(u.text()), MarketplaceOrderID: api.Scrub(u.text()), ExternalID: api.Scrub(u.text()), Status: u.status(),
		CreatedAt: u.day().time(), UpdatedAt: u.day().time(), ShippedAt: u.day().time(), DeliveredAt: u.day().time(),
	}
	if u.flag() {
		sh.Tracking = &api.Tracking{Carrier: api.Scrub(u.text()), Number: api.Scrub(u.text()), URL: api.Scrub(u.text()), Estimated: u.day().time()}
	}
	if n := u.count(); n > 0 {
		sh.TrackingEvents = make([]api.TrackingEvent, n)
		for i := range sh.TrackingEvents {
			sh.TrackingEvents[i] = api.TrackingEvent{
				Status: u.status(), Description: api.Scrub(u.text()),
				City: api.Scrub(u.text()), Province: api.Scrub(u.text()), Country: api.Scrub(u.text()), At: u.day().time(),
			}
		}
	}
	return sh
}

// status packs one of the known statuses as its number, any other as it is.
func (p *packer) status(status api.ShipmentStatus) {
	for i, known := range api.ShipmentStatuses() {
		if status == known {
			p.uint(uint64(i + 1))
			return
		}
	}
	p.uint(0)
	p.text(string(status))
}

func (u *unpacker) status() api.ShipmentStatus {
	known := api.ShipmentStatuses()
	if i := u.uint(); i > 0 && i <= uint64(len(known)) {
		return known[i-1]
	}
	return api.ShipmentStatus(u.text())
}
