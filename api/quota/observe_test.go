package quota

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// seen is an observation of a request that is answered as o says.
func seen(o Outcome) *Observation {
	return &Observation{
		Sent: o.Sent, Latency: o.Received.Sub(o.Sent), Class: Reads, Status: o.Status, Reports: ParseFields(o.Header).Reports,
	}
}

// overheard books an answer to somebody else that was sent a while ago.
func overheard(p *Pacer, ago time.Duration, limit, policy string) {
	now := time.Now()
	p.Observe(seen(Outcome{Status: 200, Sent: now.Add(-ago), Received: now.Add(-ago), Header: headers(limit, policy)}))
}

func TestABucketIsAsTheNewestAnswerToAnybodySays(t *testing.T) {
	const policy = `"a";q=100;w=60`
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"a";r=90;t=60`, policy)
		pass(4 * time.Second)
		overheard(p, 0, `"a";r=70;t=56`, policy)
		if b := bucketOf(t, p, "a"); b.Remaining != 70 || b.Reset != 56*time.Second || !b.ObservedAt.Equal(time.Now()) {
			t.Errorf("after an observed answer: %d left for %v, reported at %v", b.Remaining, b.Reset, b.ObservedAt)
		}
		overheard(p, 2*time.Second, `"a";r=80;t=58`, policy)
		overheard(p, time.Hour, `"a";r=3;t=9`, policy)
		if b := bucketOf(t, p, "a"); b.Remaining != 70 {
			t.Errorf("after older ones, which came late: %d left, want 70", b.Remaining)
		}
		overheard(p, -time.Hour, `"a";r=60;t=55`, policy)
		if b := bucketOf(t, p, "a"); b.Remaining != 60 || b.ObservedAt.After(time.Now()) {
			t.Errorf("by a clock that is ahead: %d left, reported at %v", b.Remaining, b.ObservedAt)
		}
		if own, others, _ := Sum(bucketOf(t, p, "a").Hour); own != 1 || others != 20 {
			t.Errorf("in the last hour %d own and %d others, want 1 and the 20 that are gone since", own, others)
		}
	})
}

func TestALimitOfAnHourAgoDoesNotReplaceThatOfNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		overheard(p, 0, `"a";r=19;t=1`, `"a";q=20;w=1`)
		overheard(p, time.Hour, `"a";r=9;t=1`, `"a";q=10;w=1`)
		pass(2 * time.Minute)
		if all := p.Buckets(time.Now()); len(all) != 1 || all[0].Limit != 20 {
			t.Errorf("%d buckets, the first of %d, want that of 20 alone", len(all), all[0].Limit)
		}
	})
}

func TestWhatNoProxyCanHaveSeenIsNotBooked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for _, r := range []Report{
			{Policy: "a", Limit: -1}, {Policy: "a", Remaining: -1, RemainingKnown: true}, {Policy: "a", Window: -1}, {Policy: "a", Reset: 26 * time.Hour},
			{Policy: "a\x1b[2J"}, {Policy: fmt.Sprintf("%065d", 1)},
		} {
			p.Observe(&Observation{Class: Reads, Sent: time.Now(), Reports: []Report{r}})
		}
		for _, class := range []Class{"", "gifts"} {
			p.Observe(&Observation{Class: class, Sent: time.Now(), Reports: []Report{{Policy: "a", Limit: 1, PolicyKnown: true}}})
		}
		if all := p.Buckets(time.Now()); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

// spent is what one spender has done.
type spent struct{ asked, charged int }

// spend asks at random moments, until ctx ends.
func (s *service) spend(ctx context.Context, random *rand.Rand, each time.Duration, answered func(Outcome)) *spent {
	count := &spent{}
	go func() {
		for ctx.Err() == nil {
			pass(time.Duration(random.ExpFloat64() * float64(each)))
			o := s.serve()
			count.asked++
			if o.Status == 200 {
				count.charged++
			}
			answered(o)
		}
	}()
	return count
}

func TestTheRestIsToldApartFromThoseThatWereSeen(t *testing.T) {
	models, mixes := []func() limiter{fixedWindow, wallWindow, slidingLog, tokenBucket}, [][2]float64{{5, 2}, {3, 3}, {6, 3}, {6, 0}, {2, 0.5}}
	if raced {
		models, mixes = models[:1], mixes[:1]
	}
	for _, model := range models {
		for _, rates := range mixes {
			t.Run(fmt.Sprintf("%s, %v a second seen, %v not", model().name, rates[0], rates[1]), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := newService(model(), 5*time.Millisecond, 30*time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), 19*time.Minute)
					defer cancel()
					p, random := NewPacer(PacerConfig{}), rand.New(rand.NewPCG(1, 2))
					var late []Outcome
					known := s.spend(ctx, random, time.Duration(float64(time.Second)/rates[0]), func(o Outcome) {
						late = append(late, o)
						if len(late) == 5 { // a batch, and that in disorder
							for _, i := range random.Perm(len(late)) {
								p.Observe(seen(late[i]))
							}
							late = nil
						}
					})
					unknown := &spent{}
					if rates[1] > 0 {
						unknown = s.spend(ctx, rand.New(rand.NewPCG(3, 4)), time.Duration(float64(time.Second)/rates[1]), func(Outcome) {})
					}
					for ctx.Err() == nil {
						pass(time.Second)
						p.Buckets(time.Now())
					}
					pass(20 * time.Second)
					synctest.Wait()
					rest, others := 0, 0
					for _, sample := range bucketOf(t, p, "default").Hour {
						rest += sample.Rest
						others += sample.Others
					}
					t.Logf("%d asked by one, %d by the other, %d of them charged; reported: others %d, rest %d", known.asked, unknown.asked, unknown.charged, others, rest)
					if float64(rest) > 1.1*float64(unknown.charged)+20 {
						t.Errorf("the rest is said to be %d, and was %d", rest, unknown.charged)
					}
					if fixed := slices.Contains([]string{fixedWindow().name, wallWindow().name}, s.limiter.name); fixed && float64(rest) < 0.9*float64(unknown.charged) {
						t.Errorf("the rest is said to be %d, and was %d", rest, unknown.charged)
					}
				})
			})
		}
	}
}

func TestWhatAnotherLimitRefusesIsNoRequestOfTheRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newService(fixedWindow(), 5*time.Millisecond, 30*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		p, refused := NewPacer(PacerConfig{}), 0
		s.spend(ctx, rand.New(rand.NewPCG(1, 2)), time.Second/4, func(o Outcome) {
			if o.Status == 200 && seen(o).Reports[0].Remaining > 0 && s.random.IntN(2) == 0 {
				o.Status, refused = 429, refused+1 // by the agents' cap or the day's, though this bucket was charged
			}
			p.Observe(seen(o))
		})
		for ctx.Err() == nil {
			pass(time.Second)
			p.Buckets(time.Now())
		}
		pass(20 * time.Second)
		rest := 0
		for _, sample := range bucketOf(t, p, "default").Hour {
			rest += sample.Rest
		}
		if refused < 100 || rest > refused/20 {
			t.Errorf("after %d refusals by another limit the rest is told to have sent %d, and there was none", refused, rest)
		}
	})
}

func TestWhoeverComesLateLearnsTheRestFromTheLastHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newService(fixedWindow(), 5*time.Millisecond, 30*time.Millisecond)
		asking := 30 * time.Minute
		if raced {
			asking = 15 * time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), asking)
		defer cancel()
		var all []*Observation
		known := s.spend(ctx, rand.New(rand.NewPCG(1, 2)), time.Second/6, func(o Outcome) { all = append(all, seen(o)) })
		unknown := s.spend(ctx, rand.New(rand.NewPCG(3, 4)), time.Second/3, func(Outcome) {})
		<-ctx.Done()
		pass(20 * time.Second)
		synctest.Wait() // for what the requests have left behind
		p := NewPacer(PacerConfig{})
		for _, o := range all {
			p.Observe(o)
		}
		b := bucketOf(t, p, "default")
		for span, samples := range map[string][]Sample{"hour": b.Hour, "day": b.Day} {
			rest, others := 0, 0
			for _, sample := range samples {
				rest, others = rest+sample.Rest, others+sample.Others
			}
			if off := math.Abs(float64(rest-unknown.charged)) / float64(unknown.charged); off > 0.1 || others != rest+known.asked {
				t.Errorf("in the %s, of the rest's %d requests, %d are reported; others are %d, and %d were seen", span, unknown.charged, rest, others, known.asked)
			}
		}
	})
}

// A relay reports the last hour when a dashboard starts.
func TestThePaceOfOthersIsMeasuredFromWhenTheyWereFirstSeen(t *testing.T) {
	for _, c := range []struct {
		name                 string
		ago                  time.Duration // of the first of 30 requests in 15 seconds
		othersLow, othersTop float64
	}{
		{"up to now", 15 * time.Second, 1.8, 2.1},
		{"that ended a while ago", 30 * time.Second, 0.9, 1.1},
		{"most of them more than a minute ago", 67 * time.Second, 0.2, 0.3},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				told(t, p, Reads, `"a";r=9;t=1`, `"a";q=10;w=1`)
				pass(3 * time.Second)
				for i := range 30 {
					overheard(p, c.ago-time.Duration(i)*time.Second/2, `"a";r=9;t=1`, `"a";q=10;w=1`)
				}
				if b := bucketOf(t, p, "a"); b.Others < c.othersLow || b.Others > c.othersTop || b.Own < 0.3 {
					t.Errorf("own %v, others %v a second, want others from %v to %v", b.Own, b.Others, c.othersLow, c.othersTop)
				}
			})
		})
	}
}
