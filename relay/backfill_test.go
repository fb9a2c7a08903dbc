package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay/journal"
)

// listing is a service's list of events that counts how often and how far it is
// read.
type listing struct {
	mu         sync.Mutex
	events     []api.Event // the oldest first
	oldest     bool        // whether the list begins with the oldest
	err        error       // instead of the list
	cut        error       // behind it
	walks      atomic.Int64
	yielded    atomic.Int64
	priorities []quota.Priority
}

func (l *listing) add(from, to int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := from; n <= to; n++ {
		event, err := api.DecodeEvent(eventBody(n))
		if err != nil {
			panic(err)
		}
		event.CreatedAt = at.Add(time.Duration(n) * time.Second)
		l.events = append(l.events, event)
	}
}

func (l *listing) Events(ctx context.Context) iter.Seq2[api.Event, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.walks.Add(1)
	l.priorities = append(l.priorities, quota.PriorityOf(ctx))
	events, err := slices.Clone(l.events), l.err
	if !l.oldest {
		slices.Reverse(events)
	}
	return func(yield func(api.Event, error) bool) {
		if err != nil {
			yield(api.Event{}, err)
			return
		}
		for _, event := range events {
			l.yielded.Add(1)
			if !yield(api.Event{}, &api.ItemError{Err: errors.New("unreadable")}) || !yield(event, nil) {
				return
			}
		}
		if l.cut != nil {
			yield(api.Event{}, l.cut)
		}
	}
}

// filling serves a relay with a list until the test ends.
func filling(t *testing.T, l *listing, j journal.Journal, change func(*Config)) (r *Relay, log *recorded, stop func()) {
	log = &recorded{}
	r = newTestRelay(t, j, func(cfg *Config) {
		cfg.Events, cfg.Logger = l, log.logger()
		if change != nil {
			change(cfg)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	n := newNetwork()
	go func() { served <- r.Serve(ctx, n) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return r, log, stop
}

func originsOf(t *testing.T, j journal.Journal) (row []string) {
	t.Helper()
	records, err := j.Read(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		row = append(row, strings.TrimPrefix(r.ID[len("evt_ci_")+29:], "")[:3]+" "+string(r.Origin))
	}
	return row
}

func TestWhatNoDeliveryBroughtIsAddedAfterAStartAndEveryTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, l := newMemory(t), &listing{}
		l.add(1, 4, time.Now())
		deliver(t, newTestRelay(t, memory, nil).Handler(), 2, 3)
		r, _, stop := filling(t, l, memory, nil)
		synctest.Wait()
		want := []string{"002 webhook", "003 webhook", "001 backfill", "004 backfill"}
		if got := originsOf(t, memory); !slices.Equal(got, want) {
			t.Errorf("the journal has %q, want %q", got, want)
		}
		l.add(5, 6, time.Now())
		deliver(t, r.Handler(), 6, 6)
		<-time.After(backfillInterval + time.Second)
		synctest.Wait()
		if got := originsOf(t, memory); !slices.Equal(got, append(want, "006 webhook", "005 backfill")) {
			t.Errorf("ten minutes later the journal has %q", got)
		}
		for _, p := range l.priorities {
			if p != quota.Reconcile {
				t.Errorf("the list is read at priority %v", p)
			}
		}
		if got := scraped(t, r)["tillwatch_backfilled_total"]; got != "3" {
			t.Errorf("%s are counted as backfilled", got)
		}
		deliver(t, r.Handler(), 5, 5) // late, and no second one
		if head := headOf(t, memory); head != 6 {
			t.Errorf("the head is %d", head)
		}
		stop()
	})
}

func TestADeliveryOfABackfilledEventAlarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, l := newMemory(t), &listing{}
		l.add(1, 1, time.Now())
		l.events[0].Raw = []byte(`{"as": "the list tells it", ` + string(l.events[0].Raw[1:]))
		r, log, stop := filling(t, l, memory, nil)
		synctest.Wait()
		deliver(t, r.Handler(), 1, 1)
		record, found, err := memory.Find(t.Context(), string(l.events[0].ID))
		if err != nil || !found || record.Origin != journal.Backfill || record.Duplicates != 1 || record.Conflicts != 0 {
			t.Errorf("the record is %+v, %v", record, err)
		}
		values := scraped(t, r)
		for outcome, want := range map[string]string{"duplicate": "1", "conflict": "0", "stored": "0"} {
			if got := values[fmt.Sprintf("tillwatch_deliveries_total{outcome=%q}", outcome)]; got != want {
				t.Errorf("%s deliveries count as %s, want %s", got, outcome, want)
			}
		}
		if strings.Contains(log.String(), "WARN") {
			t.Errorf("the log is %q", log.String())
		}
		stop()
	})
}

func TestAnEventIsKnownByItsExactID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := []byte(`{"id":"evt_zero\u200bwidth","object":"event","type":"shipment.updated","createdAt":"2026-04-21T03:27:50Z","source":{"type":"shipment","id":"shp_1"}}`)
		event, err := api.DecodeEvent(body)
		if err != nil {
			t.Fatal(err)
		}
		memory := newMemory(t)
		r, _, stop := filling(t, &listing{events: []api.Event{event}}, memory, nil)
		defer stop()
		synctest.Wait()
		if w := serve(r.Ingest(), signedRequest(body)); w.Code != http.StatusOK {
			t.Fatalf("the delivery is answered with %d", w.Code)
		}
		if head := headOf(t, memory); head != 1 {
			t.Errorf("the journal has %d events, want the one that is listed and delivered", head)
		}
	})
}

func TestARelayThatWasNotReadyComparesOnceItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, l := newMemory(t), &listing{}
		r, _, stop := filling(t, l, memory, nil)
		synctest.Wait()
		memory.Fail(io.ErrShortWrite)
		if w := serve(r.Handler(), signedRequest(eventBody(1))); w.Code != 503 {
			t.Errorf("the event that could not be stored: %d", w.Code)
		}
		l.add(1, 1, time.Now())
		<-time.After(30 * time.Second)
		if l.walks.Load() != 1 {
			t.Errorf("%d comparisons while nothing can be stored", l.walks.Load())
		}
		memory.Fail(nil)
		<-time.After(2 * backfillRetry)
		synctest.Wait()
		if got := originsOf(t, memory); !slices.Equal(got, []string{"001 backfill"}) {
			t.Errorf("the journal has %q", got)
		}
		<-time.After(backfillInterval / 2)
		if l.walks.Load() != 2 {
			t.Errorf("%d comparisons, want one at the start and one after", l.walks.Load())
		}
		stop()
	})
}

func TestDeliveriesThatAreRefusedAgainAndAgainCostFewComparisons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listing{}
		r, _, stop := filling(t, l, &partlyFull{Journal: newMemory(t), full: true}, nil)
		synctest.Wait()
		for range 300 { // for five minutes
			serve(r.Handler(), signedRequest(eventBody(1)))
			<-time.After(time.Second)
		}
		if walks := l.walks.Load(); walks < 3 || walks > 1+int64(5*time.Minute/backfillPause) {
			t.Errorf("the list was read %d times", walks)
		}
		stop()
	})
}

func TestAListThatCannotBeReadWhole(t *testing.T) {
	for _, test := range []struct {
		name     string
		err, cut error
		at, then int64 // the head after the start, and once the list can be read
		walks    int64
		says     string
	}{
		{"a service without a list", fmt.Errorf("list events: %w", api.ErrNotServed), nil, 0, 0, 1, ""},
		{"one that fails", errors.New("unreachable"), nil, 0, 2, 2, "could not be compared"},
		{"an incomplete one", nil, fmt.Errorf("GET /api/v1/events: %w", api.ErrIncomplete), 2, 2, 2, "the list is incomplete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, l := newMemory(t), &listing{err: test.err, cut: test.cut}
				l.add(1, 2, time.Now())
				_, log, stop := filling(t, l, memory, nil)
				defer stop()
				synctest.Wait()
				if head := headOf(t, memory); head != test.at {
					t.Errorf("the head is %d, want %d", head, test.at)
				}
				if said := log.String(); !strings.Contains(said, test.says) || strings.Contains(said, "WARN") != (test.says != "") {
					t.Errorf("the log is %q", said)
				}
				l.mu.Lock()
				l.err, l.cut = nil, nil
				l.mu.Unlock()
				<-time.After(backfillInterval + time.Second)
				if head := headOf(t, memory); head != test.then || l.walks.Load() != test.walks {
					t.Errorf("the head is %d after %d comparisons, want %d after %d", head, l.walks.Load(), test.then, test.walks)
				}
			})
		})
	}
}

func TestALaterComparisonEndsWhereTheJournalKnowsEverything(t *testing.T) {
	for _, oldestFirst := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const events = 2000
			memory, l := newMemory(t), &listing{oldest: oldestFirst}
			l.add(1, events, time.Now().Add(-time.Hour))
			_, _, stop := filling(t, l, memory, nil)
			synctest.Wait()
			l.add(events+1, events+1, time.Now())
			before := l.yielded.Load()
			<-time.After(backfillInterval + time.Second)
			read, want := l.yielded.Load()-before, int64(backfillKnown+1)
			if oldestFirst {
				want = events + 1
			}
			if read > want || headOf(t, memory) != events+1 {
				t.Errorf("oldest first %t: %d events were read, want %d; the head is %d", oldestFirst, read, want, headOf(t, memory))
			}
			stop()
		})
	}
}

func TestEventsBeyondTheRetentionAreNotFetched(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"by a clock that is right": 0, "by a clock that is days ahead": 72 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, l := newMemory(t), &listing{}
				l.add(1, 50, time.Now().Add(-ahead-2*time.Hour))
				l.add(51, 52, time.Now().Add(-ahead))
				_, _, stop := filling(t, l, memory, func(cfg *Config) { cfg.Retention = time.Hour })
				synctest.Wait()
				if head := headOf(t, memory); head != 2 || l.yielded.Load() != 3 {
					t.Errorf("the head is %d after %d events of the list", head, l.yielded.Load())
				}
				stop()
			})
		})
	}
}
