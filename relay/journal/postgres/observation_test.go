package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/relay/journal"
)

func someObserved(name string, n int) (all []journal.Observation) {
	for i := range n {
		id := fmt.Sprintf("%s-%d", name, i)
		all = append(all, journal.Observation{ID: id, Text: []byte(id)})
	}
	return all
}

func expectAdded(t *testing.T, j *Journal, all []journal.Observation, fresh int) {
	t.Helper()
	if n, _, err := j.AddObservations(t.Context(), all, time.Hour, 50_000); err != nil || n != fresh {
		t.Errorf("%d are new, %v, want %d", n, err, fresh)
	}
}

func allObserved(t *testing.T, j *Journal, span time.Duration, limit int) (all []journal.Observation) {
	t.Helper()
	at := int64(0)
	for {
		some, err := j.Observations(t.Context(), at, span, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		all, at = append(all, some...), some[len(some)-1].Position
	}
}

func TestObservationsAreSharedInOneOrderAndEachOnce(t *testing.T) {
	dsn := schema(t)
	one, other := opened(t, dsn).(*Journal), opened(t, dsn).(*Journal)
	expectAdded(t, one, someObserved("a", 100), 100)
	expectAdded(t, other, someObserved("a", 110), 10)
	expectAdded(t, one, append(someObserved("b", 1), someObserved("b", 1)...), 1)
	for _, j := range []*Journal{one, other} {
		all := allObserved(t, j, time.Hour, 7)
		if len(all) != 111 || string(all[0].Text) != "a-0" || all[109].ID != "a-109" || all[110].ID != "b-0" {
			t.Errorf("%d observations, the first is %+v", len(all), all[0])
		}
	}
}

// Whoever reads behind a position must not miss what is committed before it later.
func TestAReaderOfObservationsMissesNoneWhileRelaysWrite(t *testing.T) {
	const each, batches, size = 2, 40, 20
	dsn := schema(t)
	reader := opened(t, dsn).(*Journal)
	var writing sync.WaitGroup
	for relay := range 2 {
		j := opened(t, dsn).(*Journal)
		for writer := range each {
			writing.Go(func() {
				for n := range batches {
					if _, _, err := j.AddObservations(t.Context(), someObserved(fmt.Sprint(relay, writer, n), size), time.Hour, 50_000); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read, at := 0, int64(0)
	for read < 2*each*batches*size {
		all, err := reader.Observations(ctx, at, time.Hour, 100)
		if err != nil {
			t.Fatalf("after %d observations: %v", read, err)
		}
		if read += len(all); len(all) > 0 {
			at = all[len(all)-1].Position
		}
	}
	writing.Wait()
}

func TestObservationsAreLetGoByAgeAndNumber(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn).(*Journal)
	expectAdded(t, j, someObserved("old", 5), 5)
	execute(t, dsn, "UPDATE tillwatch_observations SET position = position - 3601 * 1000000::bigint")
	if all := allObserved(t, j, time.Hour, 100); len(all) != 0 {
		t.Errorf("after their hour %d are read", len(all))
	}
	expectAdded(t, j, someObserved("new", 5), 5)
	if n := count(t, dsn, "SELECT count(*) FROM tillwatch_observations"); n != 5 {
		t.Errorf("%d are stored, want the new ones", n)
	}
	_, dropped, err := j.AddObservations(t.Context(), someObserved("many", trimEvery), time.Hour, 100)
	if err != nil || dropped != 5+trimEvery-100 {
		t.Errorf("%d were dropped, %v", dropped, err)
	}
	if all := allObserved(t, j, time.Hour, 1000); len(all) != 100 || all[99].ID != fmt.Sprint("many-", trimEvery-1) {
		t.Errorf("%d are left", len(all))
	}
}

// A server that crashed has forgotten what was observed: relays go on with what is
// reported after that.
func TestRelaysGoOnWhenTheServerHasForgottenWhatWasObserved(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn).(*Journal)
	expectAdded(t, j, someObserved("before", 5), 5)
	at := allObserved(t, j, time.Hour, 100)[4].Position
	execute(t, dsn, "TRUNCATE tillwatch_observations")
	expectAdded(t, j, someObserved("after", 3), 3)
	if all, err := j.Observations(t.Context(), at, time.Hour, 100); err != nil || len(all) != 3 {
		t.Errorf("%d are read after it, %v", len(all), err)
	}
}

// observer collects what a subscriber hands on, until it has want. Once it has some
// of that, more happens.
type observer struct {
	*listener
	t    *testing.T
	all  []quota.Observation
	some int // of those that are there before
	more func()
}

// Status expects that whoever is live knows the last hour.
func (o *observer) Status(s relay.Status) {
	if s.State == relay.Live && len(o.all) < o.some {
		o.t.Errorf("live with %d observations of %d", len(o.all), o.some)
	}
}

func (o *observer) Observe(batch []quota.Observation) {
	before := len(o.all)
	o.all = append(o.all, batch...)
	if before < o.some && len(o.all) >= o.some {
		o.more()
	}
	if len(o.all) >= o.want {
		o.done()
	}
}

func report(t *testing.T, r *relay.Relay, from, to int) {
	t.Helper()
	var all []quota.Observation
	for n := from; n <= to; n++ {
		all = append(all, quota.Observation{ID: fmt.Sprint(n), Sent: time.Now()})
	}
	body, err := json.Marshal(map[string]any{"items": all})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodPost, relay.ObservationsPath, bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+streamToken)
	w := httptest.NewRecorder()
	if r.Admin().ServeHTTP(w, req); w.Code != http.StatusOK {
		t.Errorf("%d to %d: %d %s", from, to, w.Code, w.Body)
	}
}

func TestAnyRelayTakesObservationsAndAnyServesThem(t *testing.T) {
	dsn := schema(t)
	relays := []*relay.Relay{newRelay(t, opened(t, dsn)), newRelay(t, opened(t, dsn))}
	report(t, relays[0], 1, 700)
	report(t, relays[1], 701, 1400) // together more than a read of the database
	report(t, relays[0], 600, 800)  // again
	there := 1400
	for i, r := range relays {
		server := httptest.NewServer(r.Handler())
		s, err := relay.NewSubscriber(relay.SubscriberConfig{URL: server.URL, Token: api.NewSecret(streamToken)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, done := context.WithTimeout(t.Context(), time.Minute)
		o := &observer{t: t, listener: &listener{done: done, want: there + 2}, some: there}
		o.more = func() { report(t, relays[1-i], there+1, there+2) } // to the other one, while this one streams
		if err := s.Run(ctx, o); err != nil {
			t.Error(err)
		}
		server.Close()
		if there += 2; len(o.all) != there {
			t.Fatalf("relay %d has brought %d observations of %d", i+1, len(o.all), there)
		}
		for n, seen := range o.all {
			if seen.ID != fmt.Sprint(n+1) {
				t.Fatalf("number %d of relay %d is %s", n+1, i+1, seen.ID)
			}
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
