package account

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/quota"
)

func inOrder(a, b Alert) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text))
}

// TestAlertsAreListedInOrder holds whenever somebody looks, and what was listed
// never changes.
func TestAlertsAreListedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newAlerts(&news{}, DefaultAlerts(), api.ConfirmWindow, paces{}, &clockCheck{})
		standing := map[alertKey]Alert{}
		var listed, copies [][]Alert
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			key := alertKey{kind: AlertFailed, intent: api.ID(fmt.Sprint("ci_", rapid.IntRange(0, 9).Draw(t, "intent")))}
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1, 2:
				a := Alert{
					Kind: key.kind, Intent: key.intent, Text: rapid.SampledFrom([]string{"failed", "failed: card declined"}).Draw(t, "text"),
					Since: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "since")) * time.Second),
				}
				b.renew(true, key, a)
				standing[key] = a
			case 3:
				b.renew(false, key, Alert{})
				delete(standing, key)
			case 4:
				var want []Alert
				for _, a := range standing {
					want = append(want, a)
				}
				slices.SortFunc(want, inOrder)
				got := b.inOrder()
				if !slices.Equal(got, want) {
					t.Fatalf("listed %v, want %v", got, want)
				}
				listed, copies = append(listed, got), append(copies, slices.Clone(got))
			}
		}
		for i := range listed {
			if !slices.Equal(listed[i], copies[i]) {
				t.Fatalf("%v became %v", copies[i], listed[i])
			}
		}
	})
}

func TestALongBucketThatIsUsedUpIsNotOnlyForecast(t *testing.T) {
	left := 20 * time.Second
	s := NewStore(StoreConfig{Quota: func(time.Time) []quota.Bucket {
		return []quota.Bucket{{Class: quota.Reads, Limit: 10, Window: time.Hour, Exhausted: left}}
	}})
	s.tick(time.Now())
	left = 1 // of time: nothing of the bucket
	s.tick(time.Now())
	if n, a := stands(s, AlertQuota); n != 1 || a.Text != "the quota of reads is used up: requests have to wait" {
		t.Errorf("%d alerts, first %q", n, a.Text)
	}
}
