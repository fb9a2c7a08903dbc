package relay

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// slowDisk is a journal whose disk stands still until a time: what is written
// meanwhile is durable only then, as behind an fsync that does not return.
type slowDisk struct {
	journal.Journal
	until time.Time
	late  bool // the write reaches the disk at the end of the stall, not before it
}

func (d slowDisk) Append(ctx context.Context, entries []journal.Entry) (results []journal.Result, err error) {
	if !d.late {
		results, err = d.Journal.Append(context.WithoutCancel(ctx), entries)
	}
	select {
	case <-time.After(time.Until(d.until)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.late {
		return d.Journal.Append(ctx, entries)
	}
	return results, err
}

func (d slowDisk) Check(ctx context.Context) error {
	select {
	case <-time.After(time.Until(d.until)):
		return d.Journal.Check(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestADiskThatStandsStillForTenSecondsLosesAndDoublesNothing(t *testing.T) {
	for name, late := range map[string]bool{"before the write": true, "after the write": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				const senders, stall = 64, 10 * time.Second
				stored, err := sqlite.Open(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				defer stored.Close()
				disk := slowDisk{stored, time.Now().Add(stall), late}
				r := newTestRelay(t, disk, nil)
				var refused, early atomic.Int64
				var tasks sync.WaitGroup
				for n := range senders {
					tasks.Go(func() {
						for {
							began := time.Now()
							w := serve(r.Ingest(), signedRequest(eventBody(n)))
							if waited := time.Since(began); waited > 3*time.Second {
								t.Errorf("answered %d after %v", w.Code, waited)
							}
							if w.Code == http.StatusOK {
								if time.Now().Before(disk.until) {
									early.Add(1)
								}
								return
							}
							refused.Add(1)
							<-time.After(2 * time.Second) // as Retry-After says
						}
					})
				}
				ready := func() int {
					return serve(r.Ingest(), httptest.NewRequest(http.MethodGet, "/readyz", nil)).Code
				}
				<-time.After(stall / 2)
				if status := ready(); status != http.StatusServiceUnavailable {
					t.Errorf("ready in the midst of it: %d", status)
				}
				tasks.Wait()
				<-time.After(2 * checkInterval)
				if status := ready(); status != http.StatusOK {
					t.Errorf("ready after it: %d", status)
				}
				if refused.Load() < senders || early.Load() > 0 {
					t.Errorf("%d refusals; %d were acknowledged before they were durable", refused.Load(), early.Load())
				}
				records, err := stored.Read(t.Context(), 0, 2*senders)
				if err != nil || len(records) != senders {
					t.Fatalf("%d events are stored, want %d; %v", len(records), senders, err)
				}
				ids := map[string]bool{}
				for _, record := range records {
					ids[record.ID] = true
				}
				if len(ids) != senders {
					t.Errorf("%d ids of %d events", len(ids), senders)
				}
			})
		})
	}
}
