package account

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func inOrder(a, b Alert) int { return compareAlerts(&a, &b) }

func TestAlertsAreListedInOrderWhoeverLooksAndWhenever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b alertBook
		standing := map[alertKey]Alert{}
		type looked struct {
			look alertLook
			want []Alert
		}
		var looks []looked
		list := func() {
			l := looks[0]
			looks = looks[1:]
			got := l.look.list
			if len(l.look.changes) > 0 {
				got = l.look.inOrder()
				b.settle(&l.look, got)
			}
			if !slices.Equal(got, l.want) {
				t.Fatalf("listed %v, want %v", got, l.want)
			}
		}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			key := alertKey{kind: AlertFailed, intent: api.ID(fmt.Sprint("ci_", rapid.IntRange(0, 9).Draw(t, "intent")))}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1, 2:
				a := Alert{
					Kind: key.kind, Intent: key.intent, Text: rapid.SampledFrom([]string{"failed", "failed: card declined"}).Draw(t, "text"),
					Since: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "since")) * time.Second),
				}
				b.raise(key, a)
				standing[key] = a
			case 3:
				b.clear(key)
				delete(standing, key)
			case 4:
				var want []Alert
				for _, a := range standing {
					want = append(want, a)
				}
				slices.SortFunc(want, inOrder)
				looks = append(looks, looked{b.look(), want})
			case 5:
				if len(looks) > 0 {
					// Who looked later may be the first to be done.
					i := rapid.IntRange(0, len(looks)-1).Draw(t, "look")
					looks[0], looks[i] = looks[i], looks[0]
					list()
				}
			}
		}
		for len(looks) > 0 {
			list()
		}
	})
}

func TestChangesOfAlertsDoNotPileUpWhileNobodyLooks(t *testing.T) {
	s := NewStore(StoreConfig{})
	key := alertKey{kind: AlertFailed, intent: "ci_1"}
	for i := range 20 * unlisted {
		s.judge(i%2 == 0, key, noon, func() string { return "failed" })
	}
	if n := len(s.alerts.changes); n > 2*unlisted {
		t.Errorf("%d changes are noted for one alert", n)
	}
	if got := s.Summary().Alerts; len(got) != 0 {
		t.Errorf("%v stand", got)
	}
}

func TestManyAlertsAreToldInOrder(t *testing.T) {
	s := NewStore(StoreConfig{})
	const many = 2000
	for i := range many {
		s.ApplyRead(awaiting(benchID(i), time.Now().Add(time.Minute-api.ConfirmWindow)), time.Now(), ByRead)
	}
	first := s.Summary().Alerts
	s.ApplyRead(placing(benchID(7), time.Now()), time.Now(), ByConfirm)
	second := s.Summary().Alerts
	if len(first) != many || len(second) != many-1 || !slices.IsSortedFunc(second, inOrder) {
		t.Errorf("%d alerts, then %d, in order: %t", len(first), len(second), slices.IsSortedFunc(second, inOrder))
	}
	for _, a := range second {
		if a.Intent == benchID(7) || a.Due.IsZero() {
			t.Fatalf("alert %+v", a)
		}
	}
}
