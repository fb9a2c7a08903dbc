package quota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// A production that needs nine of ten requests a second is refused now and then, as
// its requests do not come evenly. Each request of a dashboard may take the place of
// one, so a dashboard that would ask all the time asks seldom; least where it sees
// the others.
func TestADashboardGivesWayWhereOthersNeedAlmostAll(t *testing.T) {
	models := []func() limiter{fixedWindow, wallWindow, slidingLog}
	if raced {
		models = models[:1]
	}
	for _, model := range models {
		for _, seeing := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, seeing %v", model().name, seeing), func(t *testing.T) {
				asked, alone, beside, own := 0, 0, 0, 0
				for seed := range uint64(4) {
					for _, dashboard := range []bool{false, true} {
						bubble(t, func(t *testing.T) {
							s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
							ctx, cancel := context.WithTimeout(WithPriority(t.Context(), Hint), 4*time.Minute)
							defer cancel()
							p := NewPacer(PacerConfig{})
							if dashboard {
								go drive(ctx, p, 8, s.serve)
							}
							random, refused := rand.New(rand.NewPCG(seed, 1)), 0
							for ctx.Err() == nil {
								pass(time.Duration(random.Int64N(int64(222 * time.Millisecond)))) // nine a second
								s.mu.Lock()
								left, ok := s.limiter.admit(time.Now())
								s.mu.Unlock()
								if !ok {
									refused++
								}
								if seeing {
									p.Observe(seen(Outcome{Status: 200, Sent: time.Now(), Received: time.Now(), Header: tenASecond(left)}))
								}
								asked++
							}
							pass(time.Second)
							synctest.Wait()
							if dashboard {
								beside, own = beside+refused, own+s.seen
							} else {
								alone += refused
							}
						})
					}
				}
				asked /= 2
				t.Logf("of %d, %d were refused alone and %d beside a dashboard, which asked %d times", asked, alone, beside, own)
				if most := asked / 60; !seeing && beside > alone+most || seeing && beside > alone+asked/100 {
					t.Errorf("of %d, %d were refused alone and %d beside a dashboard, which asked %d times", asked, alone, beside, own)
				}
				if own < 16 {
					t.Errorf("it asked %d times in 16 minutes", own)
				}
			})
		}
	}
}
