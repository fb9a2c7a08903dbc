package relay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
)

// replaceable is a journal whose storage is another one from some moment on.
type replaceable struct {
	current atomic.Pointer[faultyJournal]
}

func (r *replaceable) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	return r.current.Load().Append(ctx, entries)
}

func (r *replaceable) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	return r.current.Load().Read(ctx, after, limit)
}

func (r *replaceable) Find(ctx context.Context, id string) (journal.Record, bool, error) {
	return r.current.Load().Find(ctx, id)
}

func (r *replaceable) Head(ctx context.Context) (int64, error)   { return r.current.Load().Head(ctx) }
func (r *replaceable) Oldest(ctx context.Context) (int64, error) { return r.current.Load().Oldest(ctx) }
func (r *replaceable) Epoch() string                             { return r.current.Load().Epoch() }

func (r *replaceable) Wait(ctx context.Context, after int64) error {
	return r.current.Load().Wait(ctx, after)
}

func (r *replaceable) Prune(ctx context.Context, t time.Time) (int64, error) {
	return r.current.Load().Prune(ctx, t)
}

func (r *replaceable) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return r.current.Load().Quarantine(ctx, u)
}

func (r *replaceable) Quarantined(ctx context.Context, limit int) ([]journal.Unreadable, error) {
	return r.current.Load().Quarantined(ctx, limit)
}

func (r *replaceable) Check(ctx context.Context) error { return r.current.Load().Check(ctx) }
func (r *replaceable) Close() error                    { return r.current.Load().Close() }

// holding makes a journal with the events of these numbers.
func holding(t *testing.T, numbers ...int) *faultyJournal {
	j := newMemory(t)
	for i, n := range numbers {
		_, err := j.Append(t.Context(), []journal.Entry{{
			ID: fmt.Sprint(n), Type: []string{"shipment.updated", "product.updated"}[n%2],
			Received: receivedAt(i + 1), Origin: journal.Webhook, Body: eventBody(n),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func TestACursorIsComparedWithTheEventOfTheJournal(t *testing.T) {
	for _, test := range []struct {
		name         string
		events       []int
		pruned       int
		cursor, last string
		resume       string
	}{
		{"the same event", []int{1, 2, 3}, 0, "epoch:2", "2", ResumeOK},
		{"the same event, as a cursor is kept", []int{1, 2, 3}, 0, "epoch:2:2", "", ResumeOK},
		{"the same event, the newest", []int{1, 2, 3}, 0, "epoch:3", "3", ResumeOK},
		{"another event", []int{1, 7, 8}, 0, "epoch:2", "2", ResumeReset},
		{"another event, as a cursor is kept", []int{1, 7, 8}, 0, "epoch:2:2", "", ResumeReset},
		{"another event, the newest", []int{1, 2, 9}, 0, "epoch:3", "3", ResumeReset},
		{"the same event elsewhere", []int{2, 1, 3}, 0, "epoch:2", "2", ResumeReset},
		{"behind the newest", []int{1, 2}, 0, "epoch:3", "3", ResumeReset},
		{"in an empty journal", nil, 0, "epoch:3", "3", ResumeReset},
		{"before all events", nil, 0, "epoch:0", "", ResumeOK},
		{"a pruned event", []int{1, 2, 3}, 2, "epoch:2", "2", ResumeOK},
		{"a pruned event before others", []int{1, 2, 3, 4}, 3, "epoch:2", "2", ResumeGap},
		{"another event that was pruned", []int{1, 7, 8}, 2, "epoch:2", "2", ResumeReset},
		{"another event than one that was pruned", []int{2, 1, 3}, 2, "epoch:2", "2", ResumeReset},
		{"no id, as of an older client", []int{1, 7, 8}, 0, "epoch:2", "", ResumeOK},
		{"no id, behind the newest", []int{1}, 0, "epoch:2", "", ResumeReset},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := holding(t, test.events...)
			if _, err := j.Prune(t.Context(), receivedAt(test.pruned+1)); err != nil {
				t.Fatal(err)
			}
			r := newTestRelay(t, j, nil)
			hello := helloAt(test.cursor)
			hello.Last = test.last
			p := connect(t, serveRelay(t, r), hello)
			welcome := p.next(frameWelcome)
			if welcome.Resume != test.resume {
				t.Fatalf("resume is %q, want %q", welcome.Resume, test.resume)
			}
			seqs, live := p.replay()
			from := int64(test.pruned + 1)
			if at, _ := parseCursor(test.cursor); test.resume == ResumeOK {
				from = at.seq + 1
			}
			head := int64(len(test.events))
			if !slices.Equal(seqs, row(from, head)) || live.Cursor != fmt.Sprintf("epoch:%d", head) {
				t.Errorf("events %v, live at %s", seqs, live.Cursor)
			}
			if len(seqs) > 0 && live.Last != fmt.Sprint(test.events[head-1]) {
				t.Errorf("the last event is %q", live.Last)
			}
		})
	}
}

// idsOf returns the ids of items, of which those of fill are numbers.
func idsOf(items []Item) (ids []string) {
	for _, item := range items {
		ids = append(ids, string(item.ID))
	}
	return ids
}

func TestASubscriberSeesThatItsJournalWasReplacedWhileItIsConnected(t *testing.T) {
	for _, test := range []struct {
		name  string
		now   []int
		types []string
	}{
		{"by an older copy", []int{1, 2}, nil},
		{"by an older copy that went on to the same number", []int{1, 2, 8, 9}, nil},
		{"by an older copy that went on", []int{1, 2, 7, 8, 9, 10}, nil},
		{"by an empty one", nil, nil},
		{"by an older copy, with a filter that holds its newest back", []int{1, 2, 9, 7}, []string{"shipment.*"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &recorded{}
				j := &replaceable{}
				j.current.Store(holding(t, 1, 2, 3, 5))
				r := newTestRelay(t, j, func(cfg *Config) { cfg.Logger = log.logger() })
				c := newCollector()
				s := subscribe(t, serveRelay(t, r), func(cfg *SubscriberConfig) { cfg.Types = test.types })
				run(t, s, c)
				c.awaitState(t, Live)
				before := len(c.items)
				synctest.Wait()
				now := holding(t, test.now...)
				j.current.Store(now)
				c.await(t, "the reset", func() bool {
					last := c.statuses[len(c.statuses)-1]
					return last.Resume == ResumeReset && last.State == Live
				})
				fill(t, now, 20, 20)
				var want []string
				for _, n := range append(test.now, 20) {
					if test.types == nil || n%2 == 0 {
						want = append(want, fmt.Sprint(n))
					}
				}
				if got := idsOf(c.awaitItems(t, before+len(want))[before:]); !slices.Equal(got, want) {
					t.Errorf("events %v, want %v", got, want)
				}
				if text := log.String(); strings.Count(text, errAnother.Error()) == 0 {
					t.Errorf("the log is %q", text)
				}
			})
		})
	}
}

// followed runs a relay on a journal. It delivers the events of some numbers, and follows the stream behind cursor
// until it is live with so many events.
func followed(t *testing.T, j journal.Journal, numbers []int, cursor string, events int) (*collector, string) {
	t.Helper()
	r := newTestRelay(t, j, nil)
	for _, n := range numbers {
		deliver(t, r.Ingest(), n, n)
	}
	n, stop := serveOn(t, r.Handler())
	s := subscribe(t, n, func(cfg *SubscriberConfig) { cfg.Cursor = cursor })
	c := newCollector()
	end := run(t, s, c)
	c.awaitState(t, Live)
	c.awaitItems(t, events)
	end()
	stop()
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	return c, s.Cursor()
}

func TestASubscriberStartsOverInAJournalThatWasReplacedWhileNoRelayRan(t *testing.T) {
	for engine, make := range databases() {
		for _, test := range []struct {
			name    string
			replace func(t *testing.T, d database)
			events  []int // that come then
			resume  string
			seqs    []int64
		}{
			{"not replaced", func(*testing.T, database) {}, []int{9}, ResumeOK, row(9, 9)},
			{"a whole copy in its place", func(t *testing.T, d database) {
				d.keep(t)
				d.restore(t)
			}, []int{9}, ResumeOK, row(9, 9)},
			{"its row deleted by hand", func(t *testing.T, d database) { d.lose(t, 8) }, []int{9}, ResumeOK, row(9, 9)},
			{"an earlier row deleted by hand", func(t *testing.T, d database) { d.lose(t, 3) }, []int{9}, ResumeOK, row(9, 9)},
			{"an older copy restored", func(t *testing.T, d database) { d.restore(t) }, nil, ResumeReset, row(1, 5)},
			{"an older copy that went on", func(t *testing.T, d database) { d.restore(t) }, []int{9, 10, 11, 12}, ResumeReset, row(1, 9)},
			{"emptied", func(t *testing.T, d database) { d.empty(t) }, nil, ResumeReset, nil},
			{"another one", func(t *testing.T, d database) { d.empty(t) }, numbers(20, 29), ResumeReset, row(1, 10)},
		} {
			t.Run(engine+"/"+test.name, func(t *testing.T) {
				d := make(t)
				j := d.open(t)
				r := newTestRelay(t, j, nil)
				deliver(t, r.Ingest(), 1, 5)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				d.keep(t)
				_, cursor := followed(t, d.open(t), []int{6, 7, 8}, "", 8)
				test.replace(t, d)
				c, _ := followed(t, d.open(t), test.events, cursor, len(test.seqs))
				var seqs []int64
				for _, item := range c.items {
					seqs = append(seqs, item.Seq)
				}
				if got := c.awaitState(t, Live).Resume; got != test.resume || !slices.Equal(seqs, test.seqs) {
					t.Errorf("%s with %v, want %s with %v", got, seqs, test.resume, test.seqs)
				}
			})
		}
	}
}

func numbers(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}
