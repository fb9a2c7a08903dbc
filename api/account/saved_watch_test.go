package account

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account/form"
)

func TestRestartReadsWhatIsOpenAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var lives []*life
		for i := range 20 {
			lives = append(lives, sold(api.ID(fmt.Sprint("ci_done_", i)), now.Add(-time.Hour), time.Second, time.Second, time.Second))
		}
		open := sold("ci_open", now, time.Second, 5*time.Minute, time.Hour)
		lives = append(lives, open)
		svc, feed := newService(lives...), newFeed()
		svc.ship(api.Shipment{ID: "shp_1", IntentID: "ci_done_1", Status: api.Delivered, UpdatedAt: now})
		f := openSaved(t, t.TempDir())
		watched(t, svc, feed, WatcherConfig{Saved: f}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			for _, l := range lives[:20] {
				feed.deliver(l.events()...)
			}
			feed.deliver(api.Event{ID: "evt_shp", Type: api.ShipmentUpdated, CreatedAt: now, Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment}})
			pass(time.Second)
			feed.deliver(open.events()[0])
			pass(time.Minute)
			mustBe(t, s, "ci_open", api.AwaitingConfirmation, Verified)
		})
		pass(10 * time.Minute) // nobody watches, somebody confirms

		s := mustRestore(t, f)
		if c := s.Changes(0); len(c.Intents) != 21 || s.Cursor() != fmt.Sprint("one:", feed.seq) {
			t.Fatalf("restored %+v at %s", c, s.Cursor())
		}
		before := mustBe(t, s, "ci_open", api.AwaitingConfirmation, Verified)
		if age := time.Since(before.ReadAt); age < 10*time.Minute {
			t.Errorf("what the last run read counts as %v old", age)
		}
		svc.calls = nil
		feed.steps = make(chan func(Sink))
		watchedStore(t, s, svc, feed, WatcherConfig{Saved: f}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			// The journal reports the last event once more.
			last := Delivery{Seq: feed.seq, Event: open.events()[0], Received: now, Origin: "webhook"}
			feed.steps <- func(sink Sink) { sink.Deliver([]Delivery{last}, time.Now()) }
			pass(10 * time.Second)
			mustBe(t, s, "ci_open", api.PlacingOrder, Verified)
			for _, c := range svc.callsTo("") {
				if c.path != "intent ci_open" {
					t.Errorf("%s was read again", c.path)
				}
			}
			if sum := s.Summary(); sum.Events.Duplicate != 0 || sum.Events.Received != 42 || sum.Gaps != 0 {
				t.Errorf("summary %+v", sum)
			}
		})
	})
}

func TestPictureIsSavedWhileItChangesAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Hour, time.Second)
		svc, feed := newService(l), newFeed()
		f := openSaved(t, t.TempDir())
		saved := func() (at time.Time) {
			content, err := os.ReadFile(f.path)
			if err != nil {
				t.Fatal(err)
			}
			err = eachLine(bytes.NewReader(content), int64(len(content)), func(i int, line []byte) error {
				if i > 0 {
					return nil
				}
				header, err := form.ReadHeader(line)
				at = header.Began
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		watched(t, svc, feed, WatcherConfig{Saved: f}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(2 * time.Second)
			feed.deliver(l.events()[0])
			pass(time.Minute)
			first := saved()
			pass(4 * time.Minute)
			if again := saved(); !again.Equal(first) {
				t.Errorf("nothing changed, but it was saved at %v and %v", first, again)
			}
			w.Refresh("ci_1")
			pass(time.Second)
		})
		if at := saved(); !at.Equal(time.Now()) {
			t.Errorf("saved at %v, want it at the end, %v", at, time.Now())
		}
	})
}

func TestAFolderThatCannotBeWrittenIsReportedUntilItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // no folder, for whoever runs this
			t.Fatal(err)
		}
		f := openSaved(t, dir)
		watched(t, newService(), newFeed(), WatcherConfig{Saved: f}, func(t *testing.T, s *Store, w *Watcher) {
			pass(61 * time.Second)
			if n, a := stands(s, AlertSaving); n != 1 || !strings.HasPrefix(a.Text, "the picture cannot be saved for the next start: not a directory: "+dir) {
				t.Fatalf("%d alerts %+v", n, a)
			}
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			if n, a := stands(s, AlertSaving); n != 0 {
				t.Errorf("stands although it is over: %+v", a)
			}
		})
	})
}
