package delivery_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"tillwatch/api"
	"tillwatch/api/delivery"
)

func TestALogListsWhatChangedSinceAVersion(t *testing.T) {
	log := delivery.NewLog(3)
	put(log, 1, delivery.Sending)
	put(log, 2, delivery.Sending)
	all, seen := log.Since(0)
	holds(t, "all", all, "1 sending", "2 sending")

	put(log, 1, delivery.Delivered)
	changed, now := log.Since(seen)
	holds(t, "after the first settled", changed, "1 delivered")
	if all[0].State != delivery.Sending {
		t.Error("a delivery that was handed out has changed")
	}
	if changed, _ := log.Since(now); len(changed) > 0 {
		t.Errorf("nothing has changed, but %d are reported", len(changed))
	}
}

func TestALogLetsGoOfWhatChangedLongestAgo(t *testing.T) {
	log := delivery.NewLog(3)
	for i := range 3 {
		put(log, i, delivery.Waiting)
	}
	put(log, 0, delivery.Sending)
	put(log, 3, delivery.Sending)
	all, _ := log.Since(0)
	holds(t, "three of four", all, "2 waiting", "0 sending", "3 sending")
	if _, ok := log.Find("1"); ok {
		t.Error("what the log let go is still found")
	}
	if d, ok := log.Find("0"); !ok || d.State != delivery.Sending {
		t.Errorf("the newest form of a delivery is not found: %v", d)
	}
}

func TestWaitingForALogEndsWithTheNextChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := delivery.NewLog(3)
		_, seen := log.Since(0)
		done := make(chan error, 1)
		go func() { done <- log.Wait(t.Context(), seen) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the wait ended without a change")
		default:
		}
		put(log, 1, delivery.Sending)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, seen = log.Since(0); log.Wait(ctx, seen) == nil {
			t.Error("the wait ended well without a change")
		}
	})
}

func put(log *delivery.Log, number int, state delivery.State) {
	log.Put(delivery.Delivery{ID: api.ScrubID(strconv.Itoa(number)), State: state})
}

func holds(t *testing.T, what string, all []*delivery.Delivery, want ...string) {
	t.Helper()
	var got []string
	for _, d := range all {
		got = append(got, string(d.ID)+" "+string(d.State))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the log says %q, not %q", what, got, want)
	}
}
