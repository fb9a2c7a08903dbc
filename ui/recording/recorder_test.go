package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// asTold is a picture as the file would tell it: two pictures that a screen shows
// alike are written alike.
func asTold(t *testing.T, source account.Picture) map[string]string {
	t.Helper()
	c := source.Changes(0)
	told := map[string]string{}
	put := func(key string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		told[key] = string(raw)
	}
	for _, in := range c.Intents {
		if all, ok := source.Intent(in.ID); !ok || all.ID != in.ID || all.State != in.State ||
			all.Product != in.Product {
			t.Errorf("the list shows %+v, the detail %+v", in, all)
		}
	}
	events, requests := 0, 0
	frames := account.FrameWriter{Detail: source.Intent, Put: func(f *account.Frame) error {
		for _, in := range f.Intents {
			put("intent "+string(in.ID), in)
		}
		for _, s := range f.Shipments {
			put("shipment "+string(s.ID), s)
		}
		for _, e := range f.Events {
			events++
			put(fmt.Sprint("event ", events), e)
		}
		for _, e := range f.Requests {
			requests++
			put(fmt.Sprint("request ", requests), e)
		}
		for _, b := range f.Buckets {
			put("bucket "+string(b.Class), b)
		}
		for name, field := range f.Summary {
			put("summary "+name, field)
		}
		return nil
	}}
	if err := frames.Write(&c); err != nil {
		t.Fatal(err)
	}
	return told
}

func requireSame(t *testing.T, live, played map[string]string) {
	t.Helper()
	if maps.Equal(live, played) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(live)) {
		if live[key] != played[key] {
			t.Errorf("%s\nlive   %s\nplayed %s", key, live[key], played[key])
		}
	}
	for key := range played {
		if _, ok := live[key]; !ok {
			t.Errorf("only played: %s", key)
		}
	}
}

// TestThePictureAtTheEndIsThatOfTheLiveAccount holds for whatever happened, read
// from change to change, by a jump to the end and there and back.
func TestThePictureAtTheEndIsThatOfTheLiveAccount(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 60).Draw(r, "steps")
		synctest.Test(t, func(t *testing.T) {
			s := newStageOf(t, 0, 2) // of four, so that some are let go
			states := []api.IntentState{api.RetrievingOffer, api.AwaitingConfirmation, api.PlacingOrder, api.Completed,
				api.Failed, "awaiting_refund"}
			for _, step := range steps {
				id := []string{"ci_1", "ci_2", "ci_3", "ci_4"}[step>>4&3]
				switch step & 15 {
				case 0, 1, 2, 3:
					s.read(id, states[step>>8%len(states)], "")
				case 4:
					s.read(id, api.Failed,
						`,"failureReason":{"code":"payment_failed","message":"no card of Annabel Quillfeather"}`)
				case 5, 6:
					s.event([]api.EventType{api.OfferRetrieved, api.IntentCompleted, api.OrderFailed}[step>>8%3],
						api.SourceIntent, api.ID(id))
				case 7:
					s.shipment("shp_"+id, api.ShipmentStatuses()[step>>8%6])
				case 8:
					s.store.SetFeed(account.FeedStatus{State: account.FeedState(step >> 8 % 6), Epoch: "one",
						Head: s.seq, Err: errors.New("reset by a@b.example")})
				case 9:
					s.store.RecordExchange(api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/" + id,
						Sent: time.Now(), Status: 200 + step>>8%2*300, Latency: time.Millisecond,
						From: api.Environment{Name: []string{"127.0.0.1:7420", "simulator"}[step>>9%2],
							Live: step>>9%2 == 0}})
				case 10:
					s.spend(int64(step >> 8 % 11))
				case 11:
					s.store.ApplyMissing(api.ID(id), time.Now())
				default:
					s.pass(time.Duration(step>>4) * time.Millisecond)
				}
			}
			s.pass(time.Second)
			s.end()
			live := asTold(t, s.store)

			p := s.play(PlayerConfig{Paused: true})
			for p.Advance() {
			}
			requireSame(t, live, asTold(t, p))
			jumped := s.play(PlayerConfig{Paused: true, From: time.Hour})
			requireSame(t, live, asTold(t, jumped))
			for _, to := range []time.Duration{0, time.Hour} {
				jumped.moveTo(to)
				jumped.show(t.Context())
			}
			requireSame(t, live, asTold(t, jumped))
		})
	})
}

func TestNothingThatIsNotForStrangersIsInTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		s.read("ci_1", api.Failed,
			`,"failureReason":{"code":"payment_failed","message":"tok_live_do_not_tell and whsec_do_not_tell of Annabel at 17 Larkspur Lane, annabel@buyer.example, is refused"},`+
				`"customerNote":"ring twice","sessionToken":"unknown-field-secret"`)
		s.shipment("shp_1", api.Shipped)
		s.event(api.IntentCompleted, api.SourceIntent, "ci_1")
		s.store.RecordExchange(api.Exchange{Method: "GET", Path: "/x?url=https://secret-query.example",
			Sent: time.Now(), Err: errors.New("Authorization: Bearer sk_live_0123456789 refused for " +
				"annabel@buyer.example")})
		s.store.SetFeed(account.FeedStatus{State: account.FeedLost,
			Err: errors.New("dial wss://relay.example/?token=relay-token-77 api_key=sk_live_0123456789")})
		s.pass(time.Second)
		s.end()
		text := unpacked(t, s.path)
		for _, secret := range []string{"tok_live", "Annabel", "Quillfeather", "annabel@", "2125550143", "Larkspur",
			"Springfield", "62704", "ring twice",
			"unknown-field-secret", "secret-query", "sk_live", "relay-token", "003404341610", "track.example", "variant=7"} {
			if strings.Contains(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("%q is in the file: …%s…", secret, text[max(at-60, 0):min(at+60, len(text))])
			}
		}
		for _, kept := range []string{"payment_failed", "Wool Socks", "4452", `"country":"US"`, "…1610", "acme.example",
			"buyers but for the country"} {
			if !strings.Contains(text, kept) {
				t.Errorf("%q is not in the file", kept)
			}
		}
		info, err := os.Stat(s.path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("others may read the file: %v", info.Mode())
		}
	})
}

func unpacked(t *testing.T, path string) string {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacker)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNoFileIsOverwritten(t *testing.T) {
	path := t.TempDir() + "/notes.txt"
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(path, form.Header{})
	if err == nil || !strings.Contains(err.Error(), "the file exists") {
		t.Errorf("err = %v", err)
	}
	if kept, _ := os.ReadFile(path); string(kept) != "mine" {
		t.Errorf("the file holds %q", kept)
	}
	_, err = Create(t.TempDir()+"/no/such/folder", form.Header{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

func TestARecordingEndsAtItsLimitAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4000)
		for i := range 400 {
			s.read("ci_"+time.Now().Format("150405.000"), api.AwaitingConfirmation, "")
			s.event(api.OfferRetrieved, api.SourceIntent, api.ID("ci_"+time.Now().Format("150405.000")))
			s.pass(time.Duration(100+i) * time.Millisecond)
		}
		s.running.Wait() // it has ended by itself
		s.cancel()
		state := s.recorder.State()
		if !state.Full || state.Err != nil || state.Bytes > 8000 {
			t.Errorf("state %+v", state)
		}
		p := s.play(PlayerConfig{Paused: true})
		if !strings.Contains(p.Flaws(), "limit") {
			t.Errorf("flaws: %q", p.Flaws())
		}
		if got := p.Position().Length; got < time.Second {
			t.Errorf("only %v play", got)
		}
	})
}

func TestADiskThatFailsIsReportedAndDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/r"
		recorder, err := Create(path, form.Header{})
		if err != nil {
			t.Fatal(err)
		}
		recorder.file.Close() // as if the disk were gone
		err = recorder.Run(t.Context(), account.NewStore(account.StoreConfig{}))
		if err == nil || !strings.HasPrefix(err.Error(), "the recording has ended: ") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("err = %v", err)
		}
		if state := recorder.State(); state.Err == nil {
			t.Errorf("state %+v", state)
		}
	})
}
