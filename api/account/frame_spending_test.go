package account

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

func TestSpendersAndLimitsAreGivenAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		s := NewStore(StoreConfig{Quota: pacer.Buckets, Observed: pacer.Observe})
		random, told := rand.New(rand.NewPCG(1, 2)), frameQuota{}
		lines := 0
		frames := FrameWriter{Detail: s.Intent, Put: func(f *Frame) error {
			raw, err := json.Marshal(f)
			if err != nil {
				return err
			}
			read, err := ReadFrame(raw)
			if err != nil {
				return err
			}
			told.merge(read)
			lines++
			return nil
		}}
		asJSON := func(v ...any) string {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		rounds := unlessRaced(600, 120)
		for i := range rounds {
			o := seenBy(fmt.Sprint(i), fmt.Sprint("shop ", i%(3+i/100)), "", []string{intentEndpoint, confirmEndpoint}[random.IntN(2)])
			o.Sent = o.Sent.Add(-time.Duration(random.ExpFloat64() * float64(time.Minute)))
			o.Reports = []quota.Report{{Policy: "a", Limit: 10, Window: time.Second, PolicyKnown: true, Remaining: 7, Reset: time.Second, RemainingKnown: true, ResetKnown: true}}
			s.Observe([]quota.Observation{o})
			pass(time.Duration(random.Int64N(int64(200 * time.Second))))
			s.tick(time.Now())
			c := s.Changes(0)
			c.Whole = i == 0 || i == rounds/2
			if err := frames.Write(&c); err != nil {
				t.Fatal(err)
			}
			if i%20 > 0 {
				continue
			}
			if want, got := asJSON(c.Summary.Spenders, c.Summary.Limits), asJSON(told.Spenders, told.Limits); want != got {
				t.Fatalf("after %d, of %d lines:\n%.3000s\nwant\n%.3000s", i, lines, got, want)
			}
		}
	})
}

func TestLimitsSayWhatTheirFiguresStandOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		s := NewStore(StoreConfig{Quota: pacer.Buckets, Observed: pacer.Observe})
		limits := func() (all map[LimitName]Limit) {
			all = map[LimitName]Limit{}
			for _, l := range s.Summary().Limits {
				all[l.Name] = l
			}
			return all
		}
		for name, want := range map[LimitName]int{LimitReads: 10, LimitMutations: 5, LimitLookup: 10, LimitDay: 50, LimitAgents: 10} {
			if l := limits()[name]; l.Limit != (Figure{want, Assumed}) || l.Used.Grounds != NotKnown || l.Left().Grounds != NotKnown {
				t.Errorf("before anything is known, %s: %+v", name, l)
			}
		}
		o := seenBy("a", "shop", "", intentsEndpoint)
		o.Reports = quota.ParseFields(map[string][]string{
			"Ratelimit":        {`"mutations";r=3;t=1, "checkout-intents";r=20;t=7200, "concurrent-agents";r=8;t=1`},
			"Ratelimit-Policy": {`"mutations";q=6;w=1, "checkout-intents";q=60;w=86400, "concurrent-agents";q=12;w=1`},
		}).Reports
		s.Observe([]quota.Observation{o})
		for name, want := range map[LimitName][2]int{LimitMutations: {3, 6}, LimitDay: {40, 60}, LimitAgents: {4, 12}} {
			if l := limits()[name]; l.Used != (Figure{want[0], Told}) || l.Limit != (Figure{want[1], Told}) || l.Left() != (Figure{want[1] - want[0], Told}) {
				t.Errorf("read back, %s: %+v", name, l)
			}
		}
		if sum := s.Summary(); sum.Agents != (AgentCount{Limit: 12}) {
			t.Errorf("%+v, want the cap that the header names", sum.Agents)
		}
		pass(5 * time.Second)
		if l := limits()[LimitMutations]; l.Used != (Figure{0, Counted}) {
			t.Errorf("when the second is over: %+v", l)
		}
		if day := limits()[LimitDay]; day.Used != (Figure{40, Told}) || day.Returns.IsZero() || !day.RunsOut.IsZero() {
			t.Errorf("the day: %+v", day)
		}
	})
}

func TestTheEndOfTheDaysIntentsIsForeseenAsATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		s.learn(5, time.Now().Add(-5*time.Minute))
		day := s.Summary().Limits[3]
		if want := time.Now().Add(45 * time.Hour / 20); day.Pace != 20 || !day.RunsOut.Equal(want) || day.Used != (Figure{5, Counted}) {
			t.Errorf("%+v, want the 45 that are left to run out at 20 an hour, at %v", day, want)
		}
	})
}
