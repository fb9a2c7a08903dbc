package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// shipment is a parcel of a completed order.
type shipment struct {
	keptShipment
	number  uint64 // by creation, from 1
	created time.Time
	intent  *intent
	done    int // number of legs done
	dice    dice
	to      place
}

// keptShipment is the part of a shipment that a snapshot keeps.
type keptShipment struct {
	shipmentWire `json:"shipment"`
	Legs         []leg     `json:"legs,omitempty"`    // all of them; in a snapshot only those to come
	Repeats      int       `json:"repeats,omitempty"` // number of scans that did not change the status
	Due          time.Time `json:"due,omitzero"`      // when the next scan happens; zero: there is none
}

// leg is one scan of the parcel and the status that it brings.
type leg struct {
	Status      api.ShipmentStatus
	Description string
	At          place
}

// mostParcels is the largest number of shipments that an order is planned with.
const mostParcels = 2

// planShipments plans the shipments of a completed order, a little later.
func (f *fulfilment) planShipments(in *intent, p *product, at time.Time) {
	m := magicOf(in.ProductURL)
	if p.Digital || m.situation == digital {
		return
	}
	d := newDice(f.cfg.Seed, diceParcels, in.number)
	parcels := 1
	if m.situation == splitShipment || in.Quantity > 2 && d.chance(0.5) {
		parcels = mostParcels
	}
	for range parcels {
		wait := f.cfg.vary(d, f.cfg.Timings.ShipmentStep/4)
		in.Unshipped++
		f.agenda.plan(at.Add(wait), func(at time.Time) { f.shipNext(in, at) })
	}
}

// shipNext creates the next shipment of an order; nil if none is left.
func (f *fulfilment) shipNext(in *intent, at time.Time) *shipment {
	if in.Unshipped == 0 { // all were shipped early, on request
		return nil
	}
	in.Unshipped--
	return f.ship(in, f.catalogue.find(in.ProductURL), at)
}

// ship creates a shipment.
func (f *fulfilment) ship(in *intent, p *product, at time.Time) *shipment {
	number := uint64(f.shipments.made() + 1)
	d := newDice(f.cfg.Seed, diceParcel, in.number<<8+in.Parcels+1)
	sh := &shipment{
		keptShipment: keptShipment{shipmentWire: shipmentWire{
			ID: d.id("shp_"), CheckoutIntentID: in.ID, MarketplaceOrderID: in.OrderID, Status: api.Ordered,
			CreatedAt: stamp(at), UpdatedAt: stamp(at),
		}},
		number: number, created: at, intent: in, dice: d, to: placeOf(in.Buyer),
	}
	sh.Legs = route(d, magicOf(in.ProductURL).situation, p.merchant.From, sh.to)
	f.parcels[sh.ID] = sh
	f.shipments.items = append(f.shipments.items, sh)
	in.Parcels++
	in.moving++
	f.webhooks.emit(at, api.ShipmentCreated, sh.ID, "created", nil)
	f.planLeg(sh, at)
	return sh
}

// route returns the legs that a parcel will take.
func route(d dice, m situation, from, to place) []leg {
	if m == canceledShipping || m == situationNone && d.chance(0.05) {
		return []leg{{api.Canceled, "Canceled by the merchant", from}}
	}
	hub := pick(d, []place{{"Harrisburg", "PA", -5}, {"Memphis", "TN", -6}, {"Reno", "NV", -8}, {"Omaha", "NE", -6}})
	legs := []leg{{api.Shipped, "Departed origin facility", from}, {api.Shipped, "Arrived at sorting facility", hub}}
	if m == delayedShipping || m == situationNone && d.chance(0.15) {
		legs = append(legs, leg{api.Delayed, pick(d, []string{"Weather delay", "Missed connection", "Held for an address check"}), hub})
	}
	return append(legs,
		leg{api.OutForDelivery, "Out for delivery", to},
		leg{api.Delivered, pick(d, []string{"Left at front door", "Handed to resident", "In the parcel locker"}), to})
}

// planLeg plans the next scan, if there is one.
func (f *fulfilment) planLeg(sh *shipment, at time.Time) {
	if sh.done >= len(sh.Legs) {
		sh.Legs, sh.done, sh.Due = nil, 0, time.Time{}
		sh.intent.moving--
		return
	}
	next := at.Add(f.cfg.vary(sh.dice, f.cfg.Timings.ShipmentStep))
	if fate := sh.intent.Fate; !fate.legsBy.IsZero() {
		if ahead := fate.legsDone - sh.done; ahead > 0 && at.Before(fate.legsBy) {
			share := (0.5 + sh.dice.Float64()) / float64(ahead+1)
			next = at.Add(time.Duration(float64(fate.legsBy.Sub(at)) * share))
		} else if next.Before(fate.legsBy) {
			next = fate.legsBy.Add(f.cfg.vary(sh.dice, f.cfg.Timings.ShipmentStep))
		}
	}
	sh.Due = next
	f.planScan(sh)
}

// planScan plans the next scan.
func (f *fulfilment) planScan(sh *shipment) {
	planned := sh.done
	f.agenda.plan(sh.Due, func(at time.Time) {
		if sh.done == planned {
			f.advance(sh, at)
		}
	})
}

// advance performs the next scan, if there is one.
func (f *fulfilment) advance(sh *shipment, at time.Time) {
	if sh.done >= len(sh.Legs) {
		return
	}
	l := sh.Legs[sh.done]
	sh.done++
	suffix := string(l.Status)
	if sh.Status == l.Status {
		sh.Repeats++
		suffix = fmt.Sprintf("%s_%d", l.Status, sh.Repeats+1)
	}
	if sh.Status == api.Ordered && l.Status != api.Canceled {
		f.handOver(sh, at)
	}
	sh.Status, sh.UpdatedAt = l.Status, stamp(at)
	if l.Status != api.Canceled {
		sh.TrackingEvents = append(sh.TrackingEvents, scan(l.Status, l.Description, wireOf(l.At), l.At.Offset, at))
	}
	switch l.Status {
	case api.Delivered:
		sh.DeliveredAt = stamp(at)
	case api.Delayed:
		sh.estimate(at.UTC().Truncate(day).Add(5 * day))
	case api.OutForDelivery:
		sh.estimate(at.UTC().Truncate(day))
	}
	f.webhooks.emit(at, api.ShipmentUpdated, sh.ID, suffix, nil)
	f.planLeg(sh, at)
}

// handOver gives the parcel to a carrier, with a tracking number.
func (f *fulfilment) handOver(sh *shipment, at time.Time) {
	p := f.catalogue.find(sh.intent.ProductURL)
	carrier := pick(sh.dice, p.merchant.Carriers)
	number, page := inventTracking(sh.dice, carrier)
	sh.ShippedAt = stamp(at)
	sh.ExternalID = fmt.Sprintf("fulfil-%06d", 700_000+sh.number)
	sh.Tracking = &trackingWire{CarrierName: carrier, Number: &number, URL: &page}
	if magicOf(sh.intent.ProductURL).situation == noTracking {
		sh.Tracking = &trackingWire{CarrierName: carrier}
		return
	}
	sh.estimate(at.UTC().Truncate(day).Add(time.Duration(sh.dice.between(2, 5)) * day))
	sh.TrackingEvents = append(make([]trackingEventWire, 0, len(sh.Legs)+1),
		scan(api.Ordered, "Label created", locationWire{}, p.merchant.From.Offset, sh.created))
}

// estimate sets the estimated day in a copy of the tracking: others may be reading the present one.
func (sh *shipment) estimate(on time.Time) {
	if sh.Tracking == nil || sh.Tracking.Number == nil {
		return
	}
	t := *sh.Tracking
	t.DeliveryDate = &deliveryDateWire{on.Format(time.RFC3339)}
	sh.Tracking = &t
}

func scan(status api.ShipmentStatus, description string, where locationWire, offset int, at time.Time) trackingEventWire {
	local := at.In(time.FixedZone("", offset*3600))
	return trackingEventWire{
		Status: status, Description: description,
		Timestamp: trackingTimeWire{stamp(at), local.Format("2006-01-02T15:04:05.000-07:00")},
		Location:  where,
	}
}

func wireOf(p place) locationWire {
	country := "US"
	return locationWire{&p.City, &p.Province, &country}
}

// inventTracking makes up a tracking number and the address of its page.
func inventTracking(d dice, name string) (number, page string) {
	carriers := theWorld().Carriers
	c := carriers[slices.IndexFunc(carriers, func(c carrier) bool { return c.Name == name })]
	number = fmt.Sprintf(c.Form, d.Int64N(c.Numbers))
	domain := strings.ToLower(strings.ReplaceAll(c.Name, " ", "-")) + ".example"
	return number, "https://track." + domain + "/t/" + number
}

// homeIn returns a home in a province; ok is false if the world has none there.
func homeIn(province string) (h home, ok bool) {
	homes := theWorld().Homes
	i := slices.IndexFunc(homes, func(h home) bool { return strings.EqualFold(h.Province, province) })
	if i < 0 {
		return home{}, false
	}
	return homes[i], true
}

// taxOf returns the sales tax of a province, in thousandths of a percent.
func taxOf(province string) int64 {
	if h, known := homeIn(province); known {
		return h.Tax
	}
	return 6000
}

// placeOf returns where a buyer lives, with a guess at the offset from UTC.
func placeOf(b *buyerWire) place {
	if h, known := homeIn(b.Province); known {
		return place{b.City, b.Province, h.Offset}
	}
	return place{b.City, b.Province, -5}
}

func inventBuyer(d dice) *buyerWire {
	w := theWorld()
	first, last, street := pick(d, w.FirstNames), pick(d, w.LastNames), pick(d, w.Streets)
	h := pick(d, w.Homes)
	b := &buyerWire{
		FirstName: first, LastName: last,
		Email:      fmt.Sprintf("buyer.%d@example.%s", d.between(100, 9999), pick(d, []string{"com", "org", "net"})),
		Phone:      fmt.Sprintf("%s-555-01%02d", h.Area, d.IntN(100)),
		Address1:   fmt.Sprintf("%d %s", d.between(2, 2400), street),
		City:       h.City,
		Province:   h.Province,
		PostalCode: fmt.Sprintf("%s%02d", h.Postal, d.between(1, 60)),
		Country:    "US",
	}
	if d.chance(0.3) {
		b.Address2 = fmt.Sprintf("Apt %d%c", d.between(1, 20), 'A'+rune(d.IntN(6)))
	}
	return b
}
