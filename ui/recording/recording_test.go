package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		if all, ok := source.Intent(in.ID); !ok || all.ID != in.ID || all.State != in.State || all.Product != in.Product {
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
	if err := frames.Write(&c, nil); err != nil {
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
			states := []api.IntentState{api.RetrievingOffer, api.AwaitingConfirmation, api.PlacingOrder, api.Completed, api.Failed, "awaiting_refund"}
			for _, step := range steps {
				id := []string{"ci_1", "ci_2", "ci_3", "ci_4"}[step>>4&3]
				switch step & 15 {
				case 0, 1, 2, 3:
					s.read(id, states[step>>8%len(states)], "")
				case 4:
					s.read(id, api.Failed, `,"failureReason":{"code":"payment_failed","message":"no card of Annabel Quillfeather"}`)
				case 5, 6:
					s.event([]api.EventType{api.OfferRetrieved, api.IntentCompleted, api.OrderFailed}[step>>8%3], api.SourceIntent, api.ID(id))
				case 7:
					s.shipment("shp_"+id, api.ShipmentStatuses()[step>>8%6])
				case 8:
					s.store.SetFeed(account.FeedStatus{State: account.FeedState(step >> 8 % 6), Epoch: "one", Head: s.seq, Err: errors.New("reset by a@b.example")})
				case 9:
					s.store.RecordExchange(api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/" + id, Sent: time.Now(), Status: 200 + step>>8%2*300, Latency: time.Millisecond,
						From: api.Environment{Name: []string{"127.0.0.1:7420", "simulator"}[step>>9%2], Live: step>>9%2 == 0}})
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
			jumped.mu.Lock()
			jumped.moveTo(0)
			jumped.show(t.Context())
			jumped.moveTo(time.Hour)
			jumped.show(t.Context())
			jumped.mu.Unlock()
			requireSame(t, live, asTold(t, jumped))
		})
	})
}

func TestALongRecordingIsPlayedAcrossItsChapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		for i := range 1500 {
			s.read("ci_"+string(rune('a'+i%20)), []api.IntentState{api.AwaitingConfirmation, api.PlacingOrder}[i/20%2], `,"promoCodes":["`+strings.Repeat("x", 900)+`"]`)
			s.pass(150 * time.Millisecond)
		}
		s.end()
		live := asTold(t, s.store)
		p := s.play(PlayerConfig{Paused: true})
		if n := len(p.file.chapters); n < 2 {
			t.Fatalf("%d chapters: the test needs more", n)
		}
		glowing := 0
		since := p.Changes(0).Version
		for p.Advance() {
			c := p.Changes(since)
			if c.Whole {
				t.Fatal("playing on starts over")
			}
			glowing, since = max(glowing, len(c.Intents)), c.Version
		}
		if glowing > 3 {
			t.Errorf("a chapter's beginning reports %d intents as if they had changed", glowing)
		}
		requireSame(t, live, asTold(t, p))
	})
}

// The picture at the beginning of a chapter counts all events that are no longer kept.
func TestAChapterReportsNoEventsAsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		for range 120 {
			for range 100 {
				s.event("refund.updated", "refund", "re_1")
			}
			s.pass(150 * time.Millisecond)
		}
		s.end()
		p := s.play(PlayerConfig{Paused: true})
		if n := len(p.file.chapters); n < 2 {
			t.Fatalf("%d chapters: the test needs more", n)
		}
		for since := p.Changes(0).Version; p.Advance(); {
			c := p.Changes(since)
			if since = c.Version; c.EventsSkipped != 0 || len(c.Events) > 100 {
				t.Fatalf("%d new events, %d skipped", len(c.Events), c.EventsSkipped)
			}
		}
	})
}

func TestNothingThatIsNotForStrangersIsInTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		s.read("ci_1", api.Failed, `,"failureReason":{"code":"payment_failed","message":"tok_live_do_not_tell and whsec_do_not_tell of Annabel at 17 Larkspur Lane, annabel@buyer.example, is refused"},`+
			`"customerNote":"ring twice","sessionToken":"unknown-field-secret"`)
		s.shipment("shp_1", api.Shipped)
		s.event(api.IntentCompleted, api.SourceIntent, "ci_1")
		s.store.RecordExchange(api.Exchange{Method: "GET", Path: "/x?url=https://secret-query.example", Sent: time.Now(), Err: errors.New("Authorization: Bearer sk_live_0123456789 refused for annabel@buyer.example")})
		s.store.SetFeed(account.FeedStatus{State: account.FeedLost, Err: errors.New("dial wss://relay.example/?token=relay-token-77 api_key=sk_live_0123456789")})
		s.pass(time.Second)
		s.end()
		text := unpacked(t, s.path)
		for _, secret := range []string{"tok_live", "Annabel", "Quillfeather", "annabel@", "2125550143", "Larkspur", "Springfield", "62704", "ring twice",
			"unknown-field-secret", "secret-query", "sk_live", "relay-token", "003404341610", "track.example", "variant=7"} {
			if strings.Contains(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("%q is in the file: …%s…", secret, text[max(at-60, 0):min(at+60, len(text))])
			}
		}
		for _, kept := range []string{"payment_failed", "Wool Socks", "4452", `"country":"US"`, "…1610", "acme.example", "buyers but for the country"} {
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

// TestASavedPictureIsARecordingOfOneFrame holds that there is one form.
func TestASavedPictureIsARecordingOfOneFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		s.read("ci_1", api.Failed, "")
		s.shipment("shp_1", api.Shipped)
		s.event(api.OrderFailed, api.SourceIntent, "ci_1")
		s.end()
		dir := t.TempDir()
		saved, err := account.OpenSaved(account.SavedConfig{Dir: dir, Account: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := saved.Save(s.store); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Fatalf("the folder holds %v, %v", files, err)
		}
		p, err := OpenPlayer(dir+"/"+files[0].Name(), PlayerConfig{Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if flaws := p.Flaws(); flaws != "" {
			t.Error(flaws)
		}
		c := p.Changes(0)
		if pos := p.Position(); pos.Changes != 1 || len(c.Intents) != 1 || len(c.Shipments) != 1 || len(c.Events) != 1 || c.Summary.Intents[api.Failed] != 1 {
			t.Errorf("it plays as %+v with %d intents, %d shipments, %d events and %v", pos, len(c.Intents), len(c.Shipments), len(c.Events), c.Summary.Intents)
		}
	})
}

// Two readers of one recording, such as two runs of replay --plain, get it in one order.
func TestChangesOfARecordingHaveOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		for _, ids := range []string{"7391", "826"} {
			for _, id := range ids {
				s.read("ci_"+string(id), api.AwaitingConfirmation, "")
				s.shipment("shp_"+string(id), api.Shipped)
			}
			s.pass(time.Second)
		}
		s.end()
		var first string
		for n := range 5 {
			p := s.play(PlayerConfig{Paused: true})
			for p.Advance() {
			}
			var intents, shipments string
			c := p.Changes(0)
			for i := range c.Intents {
				intents += strings.TrimPrefix(string(c.Intents[i].ID), "ci_")
			}
			for i := range c.Shipments {
				shipments += strings.TrimPrefix(string(c.Shipments[i].ID), "shp_")
			}
			if n == 0 {
				first = intents
			}
			// Every shipment changes ci_1, so its place depends on which changes a frame holds.
			if intents != first || strings.ReplaceAll(intents, "1", "") != "739826" || shipments != "7391826" {
				t.Errorf("intents in the order %s, before %s; shipments %s", intents, first, shipments)
			}
		}
	})
}
