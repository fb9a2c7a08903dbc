package account_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
)

// caller spends of the quota, by the service's own record.
type caller struct {
	asked, refused, charged int
}

// TestWhatIsSaidOfTheQuotaIsTrue compares an hour of three spenders, of whom two are
// observed, with what the service has answered them.
func TestWhatIsSaidOfTheQuotaIsTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, err := simulator.New(simulator.Config{
			Seed: 1, Key: api.NewSecret(ownKey), ProductEventsPerMinute: -1, History: -1, Limits: simulator.Limits{Reads: 10, PerDay: -1, Agents: -1},
		})
		if err != nil {
			t.Fatal(err)
		}
		pacer := quota.NewPacer(quota.PacerConfig{})
		store := account.NewStore(account.StoreConfig{Quota: pacer.Buckets, Observed: pacer.Observe})
		remaining := func() int64 { return pacer.Buckets(time.Now())[0].Remaining }

		var all sync.WaitGroup
		var mu sync.Mutex
		callers := map[string]*caller{}
		spend := func(name string, seed uint64, each time.Duration, observed func(quota.Observation)) {
			c := &caller{}
			callers[name] = c
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, 3))
				for end := time.Now().Add(59 * time.Minute); time.Now().Before(end); {
					time.Sleep(time.Duration(random.ExpFloat64() * float64(each)))
					mu.Lock()
					o := ask(service, name, fmt.Sprintf("%s %d", name, c.asked))
					c.asked++
					if o.Status == http.StatusTooManyRequests {
						c.refused++
					} else {
						c.charged++
					}
					if observed != nil {
						observed(o)
					}
					mu.Unlock()
				}
			})
		}
		spend("shop", 1, 250*time.Millisecond, func(o quota.Observation) {
			store.Observe([]quota.Observation{o})
			if got, want := remaining(), o.Reports[0].Remaining; got != want {
				t.Errorf("%d remain, a header said %d", got, want)
			}
		})
		var late []quota.Observation // a minute is reported at once, as after a reconnect, and twice
		spend("back-office", 2, 550*time.Millisecond, func(o quota.Observation) {
			if late = append(late, o); len(late) == 100 {
				newest := remaining()
				store.Observe(late)
				store.Observe(late)
				if got := remaining(); got != newest && got != o.Reports[0].Remaining {
					t.Errorf("%d remain after a late batch, %d before and %d by the newest header", got, newest, o.Reports[0].Remaining)
				}
				late = nil
			}
		})
		spend("nobody sees", 3, 900*time.Millisecond, nil)
		all.Wait()
		store.Observe(late)
		time.Sleep(20 * time.Second)

		told, refused, asked := map[string]int{}, 0, 0
		for _, who := range store.Summary().Spenders {
			total := account.Total(who.Over(account.LastHour, quota.Reads))
			name := string(who.Name)
			if who.Kind == account.SpenderRest {
				name = "nobody sees"
			} else if total.Refused != callers[name].refused {
				t.Errorf("%s: %d refused, in truth %d", name, total.Refused, callers[name].refused)
			}
			told[name] = total.Requests
		}
		for name, c := range callers {
			asked, refused = asked+c.asked, refused+c.refused
			truth, within := c.asked, 0.02
			if name == "nobody sees" {
				truth, within = c.charged, 0.10
			}
			t.Logf("%s: %d reported, in truth %d asked, %d refused", name, told[name], c.asked, c.refused)
			if math.Abs(float64(told[name]-truth)) > within*float64(truth) {
				t.Errorf("%s: %d reported, in truth %d", name, told[name], truth)
			}
		}
		t.Logf("%.1f %% of %d were refused", 100*float64(refused)/float64(asked), asked)
	})
}

// ask asks the service, and is what a proxy sees of that.
func ask(service *simulator.Simulator, who, id string) quota.Observation {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/shipments?limit=1", nil)
	r.Header.Set("Authorization", "Bearer "+ownKey)
	answer := httptest.NewRecorder()
	o := quota.Observation{ID: id, Sent: time.Now(), Method: r.Method, Endpoint: "/api/v1/shipments", Class: quota.Reads, Spender: who}
	service.Handler().ServeHTTP(answer, r)
	o.Status, o.Reports = answer.Code, quota.ParseFields(answer.Result().Header).Reports
	return o
}
