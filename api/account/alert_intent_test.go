package account

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestAnAlertOfAnIntentSaysThatItsWindowHasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead)
		pass(44 * time.Minute)
		for _, want := range []string{"ci_1 expires unless it is confirmed", "ci_1: its confirm window has closed"} {
			s.tick(time.Now())
			if n, a := stands(s, AlertExpiring); n != 1 || a.Text != want || a.Due.IsZero() != strings.HasSuffix(want, "closed") {
				t.Errorf("%d alerts, first %+v, want %q", n, a, want)
			}
			pass(time.Minute)
		}
	})
}

func TestAnAlertNamesItsIntentOnceTheProductIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		reads := []api.Intent{awaiting("ci_1", time.Now()), placing("ci_2", time.Now())}
		for _, in := range reads {
			s.ApplyRead(in, time.Now(), ByRead)
		}
		pass(21 * time.Minute)
		s.tick(time.Now())
		raised := time.Now()
		pass(time.Minute)
		for _, in := range reads {
			in.Offer = &api.Offer{ProductTitle: "Teapot"}
			s.ApplyRead(in, time.Now(), ByRead)
		}
		for kind, want := range map[AlertKind]string{
			AlertAwaiting: "Teapot has been awaiting confirmation for more than 20m",
			AlertStuck:    "Teapot has been placing for more than 5m",
		} {
			if n, a := stands(s, kind); n != 1 || a.Text != want || a.Since.After(raised) {
				t.Errorf("%d alerts, first %+v, want %q since %v", n, a, want, raised)
			}
		}
	})
}

func TestFailureOfLongAgoIsNoAlertAndAFreshOneSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		s.ApplyRead(api.Intent{ID: "ci_old", State: api.Failed, CreatedAt: time.Now().Add(-72 * time.Hour)}, time.Now(), ByRead)
		s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OrderFailed, time.Now())}, time.Now())
		if n, a := stands(s, AlertFailed); n != 1 || a.Intent != "ci_1" || a.Text != "ci_1 failed" {
			t.Errorf("%d alerts, first %+v", n, a)
		}
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.Failed, CreatedAt: time.Now(), Failure: &api.FailureReason{Code: "product_out_of_stock"}}, time.Now(), ByRead)
		if n, a := stands(s, AlertFailed); n != 1 || a.Text != "ci_1 failed: out of stock" {
			t.Errorf("%d alerts, first %+v, want its reason", n, a)
		}
	})
}

func TestStuckIsMeasuredByTheAccountsOwnHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		for i := range 20 {
			id := api.ID(rune('a' + i))
			s.ApplyRead(placing(id, time.Now()), time.Now(), ByRead)
			s.ApplyEvents([]Delivery{intentEvent(i, id, api.IntentCompleted, time.Now().Add(20*time.Second))}, time.Now())
		}
		if p := s.Summary().Pace[api.PlacingOrder]; p.Count != 20 || p.P50 != 20*time.Second || p.P95 != 20*time.Second || !p.Slow(21*time.Second) || p.Slow(20*time.Second) {
			t.Fatalf("pace %+v", p)
		}
		s.ApplyRead(placing("ci_slow", time.Now()), time.Now(), ByRead)
		pass(59 * time.Second)
		s.tick(time.Now())
		if hasAlert(s, AlertStuck) {
			t.Error("stuck before three times the 95th percentile")
		}
		pass(2 * time.Second)
		s.tick(time.Now())
		if n, a := stands(s, AlertStuck); n != 1 || a.Intent != "ci_slow" {
			t.Errorf("%d alerts %+v", n, a)
		}
	})
}
