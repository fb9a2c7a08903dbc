package account_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// nineASecond asks as a production does that needs nine tenths of its bucket.
func nineASecond(service *simulator.Simulator, seed uint64, span time.Duration) (asked, refused int) {
	random := rand.New(rand.NewPCG(seed, 9))
	for end := time.Now().Add(span); time.Now().Before(end); asked++ {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/shipments?limit=1", nil)
		r.Header.Set("Authorization", "Bearer "+ownKey)
		answer := httptest.NewRecorder()
		service.Handler().ServeHTTP(answer, r)
		if answer.Code == http.StatusTooManyRequests {
			refused++
		}
		time.Sleep(time.Duration(random.Int64N(int64(222 * time.Millisecond))))
	}
	return asked, refused
}

func TestADashboardGivesWayToAProductionAtNinetyPercent(t *testing.T) {
	asked, alone, beside, own := 0, 0, 0, 0
	const span = 4 * time.Minute
	for seed := range uint64(5) {
		cfg := simulator.Config{Seed: seed + 1, ProductEventsPerMinute: -1, Limits: simulator.Limits{Reads: 10, PerDay: -1, Agents: -1}}
		synctest.Test(t, func(t *testing.T) {
			cfg := cfg
			cfg.Key = api.NewSecret(ownKey)
			service, err := simulator.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			n, refused := nineASecond(service, seed, span)
			asked, alone = asked+n, alone+refused
		})
		onStage(t, cfg, func(t *testing.T, s *stage) {
			var busy sync.WaitGroup
			busy.Go(func() {
				_, refused := nineASecond(s.service, seed, span)
				n, _ := s.own.reads()
				beside, own = beside+refused, own+n
			})
			s.take(t, play{intents: 60, span: span, here: 0.5}, rand.New(rand.NewPCG(seed, 7)))
			busy.Wait()
		})
	}
	t.Logf("of %d requests %d were refused alone and %d beside a dashboard, which asked %d times", asked, alone, beside, own)
	if beside > alone+asked/70 || own == 0 {
		t.Errorf("of %d, %d were refused alone, %d beside a dashboard that asked %d times", asked, alone, beside, own)
	}
}
