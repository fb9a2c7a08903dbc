package quota

import (
	"context"
	"reflect"
	"testing"
	"time"
)

func TestARestartKeepsWhatBucketsHaveSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		first := NewPacer(PacerConfig{})
		told(t, first, Mutations, `"day";r=12;t=40000`, `"day";q=50;w=86400`)
		for range 3 {
			told(t, first, Reads, `"default";r=4;t=1`, `"default";q=10;w=1`)
			pass(20 * time.Minute)
		}
		acquire(t, first, t.Context(), Reads).Done(refused("1"))

		second := NewPacer(PacerConfig{})
		second.Recall(first.Buckets(time.Now()), time.Now())
		before, after := first.Buckets(time.Now()), second.Buckets(time.Now())
		if len(after) != len(before) {
			t.Fatalf("%d buckets after a restart, want %d", len(after), len(before))
		}
		for i := range after {
			before[i].Rejected = 0 // of this process alone
			if !reflect.DeepEqual(after[i], before[i]) {
				t.Errorf("after a restart\n%+v, want\n%+v", after[i], before[i])
			}
		}
		if own, others, rejected := Sum(after[0].Hour); own != 3 || others < 5 || rejected != 1 {
			t.Errorf("in the last hour %d own, %d others, %d refused", own, others, rejected)
		}
		pass(time.Hour)
		if day := bucketOf(t, second, "day"); day.Left(time.Now()) != 12 {
			t.Errorf("%d of the day are left, want the 12 of the last report", day.Left(time.Now()))
		}
		pass(24 * time.Hour)
		for _, b := range second.Buckets(time.Now()) {
			if own, others, rejected := Sum(b.Day); own+others+rejected != 0 {
				t.Errorf("%s: a day later the day still holds %d, %d and %d", b.Policy, own, others, rejected)
			}
		}
	})
}

func TestARememberedLimitBoundsNothingUntilItIsSeenAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		p.Recall([]Bucket{{Class: Reads, Policy: "default", Limit: 1000, Window: time.Second, Remaining: 900, Reset: time.Second, ObservedAt: time.Now()}}, time.Now())
		for range 10 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v within the contract's default", wait)
			}
		}
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, err := p.Acquire(short, Reads); err == nil {
			t.Fatal("the limit of an earlier process let more out than the contract's default")
		}
	})
}

func TestSenselessMemoriesAreLeftOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		good := Bucket{Class: Reads, Policy: "good", Limit: 10, Window: time.Second}
		bad := map[string]func(*Bucket){
			"a class that is none":            func(m *Bucket) { m.Class = "\x1b[2J" },
			"a policy that steers the screen": func(m *Bucket) { m.Policy = "a\x1b]52;c;x\a" },
			"a limit below zero":              func(m *Bucket) { m.Limit = -1 },
			"a window below zero":             func(m *Bucket) { m.Window = -time.Second },
			"a remainder below zero":          func(m *Bucket) { m.Remaining = -5 },
			"a report of the future":          func(m *Bucket) { m.ObservedAt = now.Add(time.Hour) },
		}
		p := NewPacer(PacerConfig{})
		for _, change := range bad {
			m := good
			change(&m)
			p.Recall([]Bucket{m}, now)
		}
		if all := p.Buckets(now); len(all) != 0 {
			t.Fatalf("recalled %+v", all)
		}
		good.Hour = []Sample{{At: now, Own: -3}, {At: now.Add(-time.Minute), Own: 4}, {At: now.Add(time.Hour), Own: 5}, {At: now.Add(-3 * time.Hour), Own: 6}, {At: now, Others: 1 << 40}}
		p.Recall([]Bucket{good, good}, now)
		all := p.Buckets(now)
		if len(all) != 1 {
			t.Fatalf("%d buckets, want one", len(all))
		}
		if own, others, _ := Sum(all[0].Hour); own != 4 || others != 0 {
			t.Errorf("%d own and %d of others, want the four that make sense", own, others)
		}
	})
}

func TestALimitThatWasChangedIsNotRecalled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		p := NewPacer(PacerConfig{})
		p.Recall([]Bucket{
			{Class: Reads, Policy: "default", Limit: 10, Window: time.Second, ObservedAt: now.Add(-time.Minute)},
			{Class: Reads, Policy: "default", Limit: 20, Window: time.Second, ObservedAt: now.Add(-time.Second)},
		}, now)
		if all := p.Buckets(now); len(all) != 1 || all[0].Limit != 20 {
			t.Errorf("recalled %+v, want the newer limit alone", all)
		}
	})
}
