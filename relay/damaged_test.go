package relay

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestDamagedEventsAreAGapInTheStream(t *testing.T) {
	for _, test := range []struct {
		name   string
		seqs   []int64
		cursor string
		gaps   []span
		events []int64
	}{
		{"one", []int64{3}, "epoch:0", []span{{3, 3}}, []int64{1, 2, 4, 5, 6, 7, 8}},
		{"some in a row", []int64{2, 3, 4}, "epoch:0", []span{{2, 4}}, []int64{1, 5, 6, 7, 8}},
		{"the first and the newest", []int64{1, 8}, "epoch:0", []span{{1, 1}, {8, 8}}, row(2, 7)},
		{"all", row(1, 8), "epoch:0", []span{{1, 8}}, nil},
		{"that at the cursor", []int64{3}, "epoch:3:3", nil, row(4, 8)},
		{"that behind the cursor", []int64{3}, "epoch:2:2", []span{{3, 3}}, row(4, 8)},
		{"those around the cursor", []int64{2, 3, 4}, "epoch:3:3", []span{{4, 4}}, row(5, 8)},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory := newMemory(t)
			fill(t, memory, 1, 8)
			memory.Lose(test.seqs...)
			r := newTestRelay(t, memory, nil)
			p := connect(t, serveRelay(t, r), helloAt(test.cursor))
			if w := p.next(frameWelcome); w.Resume != ResumeOK {
				t.Fatalf("resume is %s", w.Resume)
			}
			var gaps []span
			var events []int64
			for live := false; !live; {
				f := p.frame()
				switch f.T {
				case frameGap:
					gaps = append(gaps, span{f.From, f.To})
				case frameLive:
					live = true
				}
				for _, item := range f.Items {
					events = append(events, item.Seq)
				}
			}
			if !slices.Equal(gaps, test.gaps) || !slices.Equal(events, test.events) {
				t.Errorf("gaps %v and events %v, want %v and %v", gaps, events, test.gaps, test.events)
			}
		})
	}
}

func TestASubscriberIsToldWhichEventsAreDamagedAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 3)
		memory.Lose(2, 5, 6)
		r := newTestRelay(t, memory, nil)
		c := newCollector()
		s := subscribe(t, serveRelay(t, r), nil)
		run(t, s, c)
		c.awaitState(t, Live)
		lost := func(to int64) func() bool {
			return func() bool { return slices.ContainsFunc(c.statuses, func(s Status) bool { return s.LostTo == to }) }
		}
		c.await(t, "the gap of before", lost(2))
		synctest.Wait()
		fill(t, memory, 4, 7)
		c.await(t, "a gap that comes while it is live", lost(6))
		var seqs []int64
		for _, item := range c.awaitItems(t, 4) {
			seqs = append(seqs, item.Seq)
		}
		synctest.Wait() // the cursor moves once the batch was handled
		if !slices.Equal(seqs, []int64{1, 3, 4, 7}) || s.Cursor() != "epoch:7:7" {
			t.Errorf("events %v, cursor %s", seqs, s.Cursor())
		}
	})
}

func TestAPageSaysWhichEventsAreDamaged(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 8)
	memory.Lose(3, 4, 8)
	r := newTestRelay(t, memory, nil)
	var page struct {
		Gaps   []span
		Next   string
		Events []wireItem
	}
	if err := json.Unmarshal(get(t, r, EventsPath).Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Events) != 5 || !slices.Equal(page.Gaps, []span{{3, 4}, {8, 8}}) || page.Next != "epoch:8" {
		t.Errorf("the page is %+v", page)
	}
	if w := get(t, r, EventsPath+"/4"); w.Code != http.StatusGone {
		t.Errorf("a damaged event: %d %s", w.Code, w.Body)
	}
}

func TestARowDeletedByHandIsAGapForWhoHasNotHadIt(t *testing.T) {
	for engine, make := range databases() {
		t.Run(engine, func(t *testing.T) {
			d := make(t)
			j := d.open(t)
			deliver(t, newTestRelay(t, j, nil).Ingest(), 1, 5)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			d.lose(t, 3)
			d.lose(t, 5)
			c, cursor := followed(t, d.open(t), []int{6}, "", 4)
			var seqs, lost []int64
			for _, item := range c.items {
				seqs = append(seqs, item.Seq)
			}
			for _, s := range c.statuses {
				if s.LostTo > 0 && !slices.Contains(lost, s.LostTo) {
					lost = append(lost, s.LostTo)
				}
			}
			if !slices.Equal(seqs, []int64{1, 2, 4, 6}) || !slices.Equal(lost, []int64{3, 5}) || !strings.Contains(cursor, ":6:") {
				t.Errorf("events %v, gaps %v, cursor %s", seqs, lost, cursor)
			}
		})
	}
}
