package account

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

const forEver = 200 * 365 * 24 * time.Hour

func openSaved(t testing.TB, dir string) *Saved {
	t.Helper()
	f, err := OpenSaved(SavedConfig{Dir: dir, Account: "staging https://api.example.com", MaxAge: forEver})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustSave(t testing.TB, f *Saved, s *Store) {
	t.Helper()
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
}

func mustRestore(t testing.TB, f *Saved) *Store {
	t.Helper()
	s := NewStore(StoreConfig{})
	if err := f.Restore(s); err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	failedBody = `{"id":"ci_failed","state":"failed","createdAt":"2026-06-18T11:50:00.000Z","productUrl":"https://www.shop.example/products/wool-socks?variant=7",
"quantity":2,"referenceId":"order-20417","variantSelections":[{"label":"Size","value":"M"},{"label":"Engraving","value":"for Zadie"}],
"buyer":{"firstName":"Zadie","lastName":"Quux","email":"zadie.quux@mail.example","phone":"212-333-2121","address1":"77 Vine Court","address2":"Apt 9Q","city":"Brookvale","province":"NY","postalCode":"10977","country":"US"},
"constraints":{"maxTotalPrice":0,"maxShippingPrice":900},
"offer":{"cost":{"subtotal":{"currencyCode":"USD","amountSubunits":3490},"tax":{"currencyCode":"USD","amountSubunits":0},"total":{"currencyCode":"USD","amountSubunits":4452}},
"shipping":{"availableOptions":[{"id":"slow","cost":{"currencyCode":"USD","amountSubunits":599},"deliveryEstimate":{"earliest":"2026-06-20T00:00:00Z"}},{"id":"fast","cost":{"currencyCode":"USD","amountSubunits":1599}}],"selectedOptionId":"slow"},"appliedPromoCodes":["WELCOME10"]},
"paymentMethod":{"type":"vault_token","vaultToken":"3f1c9a52-live-token"},
"failureReason":{"code":"form_validation_error","message":"the phone 212-333-2121 does not match"}}`
	shipmentBody = `{"id":"shp_1","checkoutIntentId":"ci_done","marketplaceOrderId":"m-1","externalId":"x-1","status":"shipped","createdAt":"2026-06-18T11:00:00Z","updatedAt":"2026-06-18T11:30:00Z","shippedAt":"2026-06-18T11:20:00Z",
"tracking":{"number":"1Z9","carrierName":"UPS","url":"https://track.example/1Z9","deliveryDate":{"estimated":"2026-06-21T00:00:00Z"}},
"trackingEvents":[{"status":"shipped","description":"left for Brookvale","location":{"city":"Brookvale"},"timestamp":{"utc":"2026-06-18T11:25:00Z"}}]}`
)

// personal is what stands in the bodies above and must not be kept.
var personal = []string{"Zadie", "Quux", "mail.example", "212-333", "Vine Court", "Apt 9Q", "Brookvale", "10977", "3f1c9a52", "live-token"}

// lived is a picture with something of everything.
func lived(t testing.TB) *Store {
	t.Helper()
	s := NewStore(StoreConfig{})
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "e1"})
	failed, err := api.DecodeIntent([]byte(failedBody))
	if err != nil {
		t.Fatal(err)
	}
	shipment, err := api.DecodeShipment([]byte(shipmentBody))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		id := api.ID(fmt.Sprint("ci_past_", i))
		s.ApplyRead(placing(id, noon.Add(-time.Hour)), noon.Add(-time.Hour), ByRead)
		s.ApplyEvents([]Delivery{intentEvent(i+1, id, api.IntentCompleted, noon.Add(-time.Hour+time.Duration(i+5)*time.Second))}, time.Now())
	}
	s.ApplyRead(failed, noon, ByRead)
	s.ApplyEvents([]Delivery{
		intentEvent(11, "ci_done", api.OfferRetrieved, noon.Add(-time.Hour)),
		intentEvent(12, "ci_open", api.OfferRetrieved, noon.Add(-time.Minute)),
		intentEvent(13, "ci_reported", api.IntentCompleted, noon.Add(-time.Minute)),
		{Seq: 14, Received: noon, Origin: "webhook", Duplicates: 2, Event: api.Event{
			ID: "evt_shp", Type: api.ShipmentUpdated, CreatedAt: shipment.UpdatedAt, Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment},
			Raw: []byte(`{"body":"of Zadie"}`)}},
	}, time.Now())

	s.ApplyRead(api.Intent{ID: "ci_done", State: api.Completed, CreatedAt: noon.Add(-2 * time.Hour), ProductURL: "https://shop.example/mug", OrderIDs: []api.Text{"o-1", "o-2"}}, noon, ByRead)
	s.ApplyRead(awaiting("ci_open", noon.Add(-10*time.Minute)), noon, ByRead)
	s.ApplyRead(api.Intent{ID: "ci_odd", State: "requires_action", CreatedAt: noon}, noon, ByRead)
	s.ApplyShipments([]api.Shipment{shipment}, noon)
	s.ApplyMissing("ci_gone", noon)
	return s
}

// shown is what a picture shows, without what is not kept.
func shown(t testing.TB, s *Store) string {
	t.Helper()
	c := s.Changes(0)
	var b strings.Builder
	line := func(what any) {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	intents := map[api.ID]IntentDetail{}
	for _, listed := range c.Intents {
		in, _ := s.Intent(listed.ID)
		if in.Intent.Version != listed.Version || in.Quantity != listed.Quantity || in.State != listed.State {
			t.Fatalf("a list shows %+v, the whole is %+v", listed, in)
		}
		held := *in
		held.Version = 0
		held.ReadAt = in.ReadAt.UTC()
		held.Timeline = nil
		for _, m := range in.Timeline {
			m.When, m.Learnt = m.When.UTC(), m.Learnt.UTC()
			held.Timeline = append(held.Timeline, m)
		}
		if in.Latest != nil {
			latest := *in.Latest
			latest.Buyer, latest.Raw = nil, nil
			if latest.Payment != nil {
				latest.Payment = &api.PaymentMethod{Type: latest.Payment.Type}
			}
			if latest.ID == "ci_failed" {
				latest.Variants = latest.Variants[:1]
				latest.Failure = &api.FailureReason{Code: latest.Failure.Code}
				held.Failure = latest.Failure
				latest.Offer.ShippingOptions = latest.Offer.ShippingOptions[:1]
			}
			held.Latest = &latest
		}
		intents[in.ID] = held
	}
	line(intents)
	shipments := map[api.ID]Shipment{}
	for _, sh := range c.Shipments {
		held := *sh
		held.Version = 0
		held.ReadAt = sh.ReadAt.UTC()
		if sh.Latest != nil {
			latest := *sh.Latest
			latest.Raw = nil
			latest.TrackingEvents = []api.TrackingEvent{{Status: latest.TrackingEvents[0].Status, At: latest.TrackingEvents[0].At}}
			held.Latest = &latest
		}
		shipments[sh.ID] = held
	}
	line(shipments)
	for _, e := range c.Events {
		held := *e
		held.Version, held.Raw = 0, nil
		line(held)
	}
	sum := c.Summary
	maps.DeleteFunc(sum.Intents, func(_ api.IntentState, n int) bool { return n == 0 })
	line([]any{sum.Intents, sum.Shipments, sum.Day, sum.Agents, sum.Events, sum.Pace, sum.LastEvent.UTC(), sum.LastRead.UTC(), sum.Feed.Cursor, sum.Feed.Epoch})
	return b.String()
}

func mustShow(t testing.TB, s *Store, want string) {
	t.Helper()
	got := strings.Split(shown(t, s), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("the picture was\n%s\nand is after a restart\n%s", line, got[min(i, len(got)-1)])
		}
	}
}

func TestRestartShowsWhatTheLastRunKnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lived(t)
		f := openSaved(t, t.TempDir())
		mustSave(t, f, s)
		again := mustRestore(t, openSaved(t, f.cfg.Dir))
		want := shown(t, s)
		mustShow(t, again, want)
		if at := again.Cursor(); at != "e1:14" {
			t.Errorf("resumes at %q", at)
		}
		mustSave(t, f, again)
		third := mustRestore(t, f)
		mustShow(t, third, want)
	})
}

func TestSavedPictureHoldsNothingOfBuyersAndNoToken(t *testing.T) {
	f := openSaved(t, t.TempDir())
	mustSave(t, f, lived(t))
	file, err := os.Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range personal {
		if bytes.Contains(content, []byte(word)) {
			t.Errorf("the file holds %q", word)
		}
	}
	if !bytes.Contains(content, []byte("form_validation_error")) || !bytes.Contains(content, []byte("order-20417")) {
		t.Error("the file lacks facts that are nobody's")
	}
	if strings.Contains(f.path, "example") {
		t.Errorf("the file's name %s reveals the account", filepath.Base(f.path))
	}
	if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
}

// TestPicturesOfVersion2StillOpen holds the form of version 2: a change that cannot
// read this file needs a new version.
func TestPicturesOfVersion2StillOpen(t *testing.T) {
	content, err := os.ReadFile("testdata/picture-2")
	if err != nil {
		t.Fatal(err)
	}
	f := openSaved(t, t.TempDir())
	if err := os.WriteFile(f.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustRestore(t, f)
	if c := s.Changes(0); len(c.Intents) != 16 || len(c.Shipments) != 1 || len(c.Events) != 14 || s.Cursor() != "e1:14" {
		t.Fatalf("restored %+v at %s", c, s.Cursor())
	}
	failed := mustBe(t, s, "ci_failed", api.Failed, Verified)
	if failed.Total.String() != "44.52 USD" || failed.Latest.Offer.Cost.Tax.String() != "0.00 USD" || failed.Latest.Offer.Cost.Shipping != nil ||
		failed.Latest.Failure.Code != "form_validation_error" || *failed.Latest.Constraints.MaxTotalPrice != 0 || !failed.ReadAt.Equal(noon) {
		t.Errorf("the failed intent is %+v", failed)
	}
	if done := mustBe(t, s, "ci_done", api.Completed, Verified); len(done.Latest.OrderIDs) != 2 || done.Product != "Mug" || len(done.Shipments) != 1 || len(done.Timeline) != 3 {
		t.Errorf("the completed intent is %+v", done)
	}
	if sh, _ := s.Shipment("shp_1"); sh.Status() != api.Shipped || sh.Latest.Tracking.Number != "1Z9" || sh.Product != "Mug" {
		t.Errorf("the shipment is %+v", sh)
	}
}

func TestEndedIntentsAreForgottenByAgeAndNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		ended := func(id api.ID, ago time.Duration) {
			at := time.Now().Add(-ago)
			s.ApplyRead(api.Intent{ID: id, State: api.Failed, CreatedAt: at}, at, ByRead)
			s.ApplyShipments([]api.Shipment{{ID: "shp_" + id, IntentID: id, Status: api.Shipped}}, at)
		}
		s.ApplyRead(awaiting("ci_open", time.Now().Add(-90*24*time.Hour)), time.Now().Add(-90*24*time.Hour), ByRead)
		ended("ci_old", 31*24*time.Hour)
		for i := range 5 {
			ended(api.ID(fmt.Sprint("ci_", i)), time.Duration(10-i)*time.Hour)
		}
		f, err := OpenSaved(SavedConfig{Dir: t.TempDir(), Account: "a", MaxEnded: 3})
		if err != nil {
			t.Fatal(err)
		}
		mustSave(t, f, s)
		again := mustRestore(t, f)
		for id, want := range map[api.ID]bool{"ci_open": true, "ci_old": false, "ci_0": false, "ci_1": false, "ci_2": true, "ci_4": true} {
			if _, ok := again.Intent(id); ok != want {
				t.Errorf("%s is kept: %v, want %v", id, ok, want)
			}
			if _, ok := again.Shipment("shp_" + id); ok != want && id != "ci_open" {
				t.Errorf("the shipment of %s is kept: %v, want %v", id, ok, want)
			}
		}
	})
}

func TestAccountsDoNotShareAPicture(t *testing.T) {
	dir := t.TempDir()
	one := openSaved(t, dir)
	mustSave(t, one, lived(t))
	other, err := OpenSaved(SavedConfig{Dir: dir, Account: "live https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if c := mustRestore(t, other).Changes(0); c.Version != 0 {
		t.Errorf("another account was restored: %+v", c)
	}
	for _, cfg := range []SavedConfig{{Dir: dir}, {Account: "a"}} {
		if _, err := OpenSaved(cfg); err == nil {
			t.Errorf("opened with %+v", cfg)
		}
	}
}

// A proposal that is made of a saved picture must not differ from the next read for what was not saved.
func TestASavedPictureHoldsWhatIsComparedBeforeAConfirm(t *testing.T) {
	read := awaiting("ci_open", time.Now())
	read.PromoCodes, read.Offer = []api.Text{"WELCOME10"}, &api.Offer{SelectedOptionID: "not-listed", AppliedPromoCodes: []api.Text{"WELCOME10"}}
	s := NewStore(StoreConfig{})
	s.ApplyRead(read, time.Now(), ByRead)
	f := openSaved(t, t.TempDir())
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
	in, ok := mustRestore(t, f).Intent("ci_open")
	if !ok || !slices.Equal(in.Latest.PromoCodes, read.PromoCodes) || in.Latest.Offer.Option().ID != "not-listed" {
		t.Errorf("restored is %+v", in)
	}
}

func TestTheLabelOfAShippingOptionThatNamesTheBuyerStaysHere(t *testing.T) {
	read := awaiting("ci_open", time.Now())
	read.Buyer = &api.Buyer{FirstName: "Zadie"}
	read.Offer = &api.Offer{SelectedOptionID: "std", ShippingOptions: []api.ShippingOption{{ID: "std", Label: "to Zadie's door"}}}
	s := NewStore(StoreConfig{})
	s.ApplyRead(read, time.Now(), ByRead)
	f := openSaved(t, t.TempDir())
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
	here, _ := s.Intent("ci_open")
	saved, _ := mustRestore(t, f).Intent("ci_open")
	for where, in := range map[string]*IntentDetail{"saved": saved, "shared": here.Shared()} {
		if label := in.Latest.Offer.Option().Label; strings.Contains(string(label), "Zadie") {
			t.Errorf("%s is %q", where, label)
		}
	}
	if here.Latest.Offer.Option().Label != "to Zadie's door" {
		t.Error("the picture itself changed")
	}
}
