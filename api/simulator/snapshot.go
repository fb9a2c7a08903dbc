package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// snapshot is the state of a simulator, from which another one can start: what the service knows, with buyers and
// payment tokens, but no keys, limits, webhook endpoints, timings and faults.
type snapshot struct {
	Format    string         `json:"format"`
	At        time.Time      `json:"at"`
	Orders    int            `json:"orders"` // the number of the shop's last order
	Intents   []keptIntent   `json:"intents"`
	Shipments []keptShipment `json:"shipments"`
	Products  []keptProduct  `json:"products"`
	Events    []eventWire    `json:"events"`
}

const snapshotFormat = "tillwatch-stand-in/1"

type keptProduct struct {
	URL          string           `json:"url"`
	Price        int64            `json:"price"`
	Availability api.Availability `json:"availability"`
	Removed      bool             `json:"removed,omitempty"`
}

func (s *Simulator) snapshot() snapshot {
	k := snapshot{
		Format: snapshotFormat, At: s.agenda.now().UTC(), Orders: s.shop.orders,
		Intents: []keptIntent{}, Shipments: []keptShipment{}, Products: []keptProduct{}, Events: []eventWire{},
	}
	for _, in := range s.fulfilment.order.items {
		kept := in.keptIntent
		kept.Due = kept.Due.UTC()
		k.Intents = append(k.Intents, kept)
	}
	for _, sh := range s.fulfilment.shipments.items {
		if s.fulfilment.intents[sh.CheckoutIntentID] == nil {
			continue
		}
		kept := sh.keptShipment
		kept.Legs, kept.Due = kept.Legs[sh.done:], kept.Due.UTC()
		k.Shipments = append(k.Shipments, kept)
	}
	for _, p := range s.catalogue.sold() {
		k.Products = append(k.Products, keptProduct{p.url(), p.Price, p.availability, p.removed})
	}
	for _, e := range s.webhooks.events.items {
		k.Events = append(k.Events, e.wire())
	}
	return k
}

// readSnapshot decodes a snapshot and moves all its times by whole seconds: its moment becomes now.
func readSnapshot(raw []byte, now time.Time) (k snapshot, err error) {
	unreadable := errors.New("the snapshot cannot be read: it is not as GET /control/snapshot answers it")
	var plain bytes.Buffer
	if json.Compact(&plain, raw) != nil { // its error would only name bytes
		return k, unreadable
	}
	at := gjson.GetBytes(raw, "at").Time()
	if gjson.GetBytes(raw, "format").String() != snapshotFormat || at.IsZero() {
		return k, errors.New("this is not a snapshot of a stand-in: " +
			"make one with tillwatch api GET /control/snapshot --reveal")
	}
	if json.Unmarshal(moveTimes(plain.Bytes(), now.Sub(at).Round(time.Second)), &k) != nil {
		return k, unreadable
	}
	return k, nil
}

// aTime matches a JSON string with a time. It also matches any reference, without the group: that is the client's own
// text and stays unchanged.
var aTime = regexp.MustCompile(`"referenceId":"(?:[^"\\]|\\.)*"|"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))"`)

// moveTimes moves every time in compact JSON and keeps its format.
func moveTimes(plain []byte, by time.Duration) []byte {
	return aTime.ReplaceAllFunc(plain, func(found []byte) []byte {
		at, err := time.Parse(time.RFC3339, strings.Trim(string(found), `"`))
		if err != nil {
			return found
		}
		layout := time.RFC3339
		if bytes.ContainsRune(found, '.') {
			layout = "2006-01-02T15:04:05.000Z07:00"
		}
		return []byte(`"` + at.Add(by).Format(layout) + `"`)
	})
}

// restore fills an empty simulator from the snapshot of its configuration. It refuses a contradictory one.
func (s *Simulator) restore(now time.Time) error {
	k, err := readSnapshot(s.cfg.From, now)
	if err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write(s.cfg.From)
	s.cfg.Seed ^= sum.Sum64() // with the seed of the snapshot, its ids would come again
	s.shop.orders = k.Orders
	for _, p := range k.Products {
		of := s.catalogue.find(p.URL)
		of.Price, of.availability, of.removed = p.Price, p.Availability, p.Removed
		s.catalogue.keep(of)
	}
	for _, w := range k.Events {
		suffix, ok := strings.CutPrefix(w.ID, "evt_"+w.Source.ID+"_")
		at, err := time.Parse(time.RFC3339, w.CreatedAt)
		if !ok || err != nil {
			return fmt.Errorf("the snapshot has an event that cannot be read: %.80q", w.ID)
		}
		s.webhooks.events.add(event{kind: w.Type, source: w.Source.ID, suffix: suffix, at: at.UnixMilli(), data: w.Data})
	}
	for _, kept := range k.Intents {
		if err := s.fulfilment.restoreIntent(kept); err != nil {
			return err
		}
	}
	for _, kept := range k.Shipments {
		if err := s.fulfilment.restoreShipment(kept); err != nil {
			return err
		}
	}
	return nil
}

// restoreIntent puts an intent back and plans its next step.
func (f *fulfilment) restoreIntent(k keptIntent) error {
	offered := k.State == api.AwaitingConfirmation || k.State == api.PlacingOrder || k.State == api.Completed
	endless := k.State == api.PlacingOrder && k.Due.IsZero()
	created, err := time.Parse(time.RFC3339, k.CreatedAt)
	if err != nil || !k.State.Known() || k.Buyer == nil || k.Offer == nil && offered || endless || k.Unshipped < 0 || k.Unshipped > mostParcels {
		return fmt.Errorf("the snapshot has an impossible intent: %.80q", k.ID)
	}
	in := &intent{keptIntent: k, created: created, number: uint64(f.order.made() + 1)}
	f.add(in)
	f.buckets.agents.used = f.states[api.PlacingOrder]
	if in.State == api.RetrievingOffer && in.Offer != nil {
		f.queued = append(f.queued, in)
	}
	if !in.State.Terminal() {
		f.agenda.plan(created.Add(f.cfg.window()), func(time.Time) { f.expire(in) })
	}
	if !in.Due.IsZero() {
		f.planStep(in)
	}
	for range in.Unshipped {
		f.agenda.plan(f.agenda.now().Add(f.cfg.scaled(f.cfg.Timings.ShipmentStep/4)), func(at time.Time) { f.shipNext(in, at) })
	}
	return nil
}

// restoreShipment puts a shipment back and plans its next scan.
func (f *fulfilment) restoreShipment(k keptShipment) error {
	created, err := time.Parse(time.RFC3339, k.CreatedAt)
	in := f.intents[k.CheckoutIntentID]
	if err != nil || in == nil {
		return fmt.Errorf("the snapshot has an impossible shipment: %.80q", k.ID)
	}
	number := uint64(f.shipments.made() + 1)
	sh := &shipment{
		keptShipment: k, number: number, created: created, intent: in,
		dice: newDice(f.cfg.Seed, diceRestored, number), to: placeOf(in.Buyer),
	}
	f.parcels[sh.ID] = sh
	f.shipments.items = append(f.shipments.items, sh)
	if len(sh.Legs) > 0 {
		in.moving++
		f.planScan(sh)
	}
	return nil
}
