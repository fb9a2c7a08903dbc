package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
)

// sharing is a journal whose relays share observations, as long as it is not away.
type sharing struct {
	journal.Journal
	mu   sync.Mutex
	log  *observationLog
	away bool
}

func newSharing(t testing.TB) *sharing {
	return &sharing{Journal: newMemory(t), log: newObservationLog(time.Time{})}
}

func (s *sharing) do(work func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errors.New("the database is away")
	}
	work()
	return nil
}

func (s *sharing) leave(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *sharing) AddObservations(_ context.Context, all []journal.Observation, _ time.Duration, _ int) (fresh, dropped int, err error) {
	err = s.do(func() { fresh, dropped = s.log.add(all, time.Now()) })
	return fresh, dropped, err
}

func (s *sharing) Observations(_ context.Context, after int64, _ time.Duration, limit int) (all []journal.Observation, err error) {
	err = s.do(func() {
		for _, o := range s.log.items {
			if o.Position > after && len(all) < limit {
				all = append(all, o)
			}
		}
	})
	return all, err
}

func TestWhatOneRelayLearnsReachesTheStreamsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newSharing(t)
		told, other := newTestRelay(t, shared, nil), newTestRelay(t, shared, nil)
		expectTaken(t, told.Handler(), 1, maxBatch, taken{Received: maxBatch}) // more than is fetched at once
		p := connect(t, serveRelay(t, other), helloFrame{T: frameHello})
		all, _ := p.observations(maxBatch)
		began := time.Now()
		expectTaken(t, told.Handler(), 5001, 5003, taken{Received: 3})
		expectTaken(t, other.Handler(), 5002, 5004, taken{Received: 1, Repeated: 2})
		more, _ := p.observations(4)
		expectObserved(t, more, 5001, 5004)
		if took := time.Since(began); len(all) != maxBatch || took > observationPoll {
			t.Errorf("%d came at first, the others after %v", len(all), took)
		}
	})
}

func TestWhileTheDatabaseIsAwayReportersComeAgainAndStreamsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, log := newSharing(t), &recorded{}
		r := newTestRelay(t, shared, func(cfg *Config) { cfg.Logger = log.logger() })
		n := serveRelay(t, r)
		shared.leave(true)
		if w := reported(r.Handler(), testToken, batchOf(1, 1)); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if values := scraped(t, r); values[`tillwatch_observation_batches_total{outcome="unavailable"}`] != "1" {
			t.Error("the batch is not counted")
		}
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		deliver(t, r.Handler(), 1, 1)
		p.next(frameEvents)
		<-time.After(10 * time.Second)
		shared.leave(false)
		expectTaken(t, r.Handler(), 1, 1, taken{Received: 1})
		all, _ := p.observations(1)
		expectObserved(t, all, 1, 1)
		if !strings.Contains(log.String(), "the stream cannot read observations") {
			t.Errorf("the log is %s", log)
		}
	})
}
