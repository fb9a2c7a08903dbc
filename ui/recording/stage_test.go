package recording

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
	"tillwatch/api/quota"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a picture that is recorded while a test changes it, within a bubble of
// time.
type stage struct {
	t        *testing.T
	store    *account.Store
	path     string
	recorder *Recorder
	cancel   context.CancelFunc
	running  sync.WaitGroup
	buckets  atomic.Pointer[[]quota.Bucket] // read by the recorder
	seq      int64
}

func newStage(t *testing.T, limit int64) *stage { return newStageOf(t, limit, 0) }

// newStageOf is newStage on a picture that keeps so many ended intents.
func newStageOf(t *testing.T, limit int64, kept int) *stage {
	t.Helper()
	s := &stage{t: t, path: filepath.Join(t.TempDir(), "day.tillwatch")}
	s.store = account.NewStore(account.StoreConfig{KeepIntents: kept, Quota: func(time.Time) []quota.Bucket {
		if buckets := s.buckets.Load(); buckets != nil {
			return *buckets
		}
		return nil
	}})
	recorder, err := Create(s.path, form.Header{Environment: "simulator", Account: "shop.example", Width: 120,
		Height: 36})
	if err != nil {
		t.Fatal(err)
	}
	if limit > 0 {
		recorder.limit = limit
	}
	s.recorder = recorder
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(t.Context())
	s.running.Go(func() {
		if err := recorder.Run(ctx, s.store); err != nil {
			t.Errorf("recording: %v", err)
		}
	})
	synctest.Wait()
	return s
}

// pass lets time pass in the bubble.
func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// end ends the recording in good order.
func (s *stage) end() {
	s.cancel()
	s.running.Wait()
}

// body is an intent as the service would tell it, with a buyer and a token.
func body(id string, state api.IntentState, more string) string {
	return fmt.Sprintf(`{"id":%q,"state":%q,"createdAt":%q,"productUrl":"https://www.acme.example/p/wool-socks?variant=7","quantity":2,`+
		`"buyer":{"firstName":"Annabel","lastName":"Quillfeather","email":"annabel@buyer.example","phone":"+12125550143","address1":"17 Larkspur Lane",`+
		`"city":"Springfield","postalCode":"62704","country":"US"},"referenceId":"order-1","paymentMethod":{"type":"vault_token","vaultToken":"tok_live_do_not_tell"},`+
		`"offer":{"product":{"title":"Wool Socks"},"cost":{"total":{"currencyCode":"USD","amountSubunits":4452},"tax":{"currencyCode":"USD","amountSubunits":352}},`+
		`"shipping":{"selectedOptionId":"std","availableOptions":[{"id":"std","deliveryEstimate":{"earliest":"2000-01-04T00:00:00Z"}}]}}%s}`,
		id, state, time.Now().UTC().Format(time.RFC3339Nano), more)
}

func (s *stage) read(id string, state api.IntentState, more string) {
	s.t.Helper()
	in, err := api.DecodeIntent([]byte(body(id, state, more)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.store.ApplyRead(in, time.Now(), account.ByRead)
}

func (s *stage) event(kind api.EventType, of api.SourceType, id api.ID) {
	s.seq++
	s.store.ApplyEvents([]account.Delivery{{
		Seq: s.seq, Origin: "webhook", Received: time.Now(),
		Event: api.Event{ID: api.ScrubID(fmt.Sprintf("evt_%d", s.seq)), Type: kind, CreatedAt: time.Now(),
			Source: api.EventSource{ID: id, Type: of}},
	}}, time.Now())

}

func (s *stage) shipment(id string, status api.ShipmentStatus) {
	s.t.Helper()
	sh, err := api.DecodeShipment(fmt.Appendf(nil,
		`{"id":%q,"checkoutIntentId":"ci_1","status":%q,"createdAt":"2000-01-01T00:00:00Z",`+
			`"tracking":{"carrierName":"DHL","number":"003404341610","url":"https://track.example/003404341610","deliveryDate":{"estimated":"2000-01-05T00:00:00Z"}},`+
			`"trackingEvents":[{"status":"shipped","description":"left for 17 Larkspur Lane","location":{"city":"Springfield"},"timestamp":"2000-01-02T00:00:00Z"}]}`, id, status))
	if err != nil {
		s.t.Fatal(err)
	}
	s.store.ApplyShipments([]api.Shipment{sh}, time.Now())
}

// spend gives the account a bucket with a minute of history.
func (s *stage) spend(remaining int64) {
	now := time.Now().Truncate(time.Second)
	b := quota.Bucket{Class: quota.Reads, Policy: "default", Limit: 10, Window: time.Second, Remaining: remaining,
		Reset: time.Second, ObservedAt: now, Own: 1.5}
	for i := range 60 {
		at := now.Add(time.Duration(i-59) * time.Second)
		b.History = append(b.History, quota.Sample{At: at, Known: at.Second()%2 == 0, Remaining: at.Unix() % 10,
			Own: at.Second() % 3})
	}
	s.buckets.Store(&[]quota.Bucket{b})
}

// play opens what was recorded, paused at its beginning.
func (s *stage) play(cfg PlayerConfig) *Player {
	s.t.Helper()
	p, err := OpenPlayer(s.path, cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}
