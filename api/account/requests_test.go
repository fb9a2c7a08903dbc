package account

import (
	"testing"

	"tillwatch/api"
)

func TestTheNewestRequestsAreKept(t *testing.T) {
	n := &news{}
	l := requestLog{news: n, keep: 3}
	for status := range 5 {
		l.add(api.Exchange{Status: status})
		n.publish()
	}
	for since, want := range map[uint64][]int{0: {2, 3, 4}, 3: {3, 4}, 4: {4}, 5: nil} {
		got := l.since(since)
		if len(got) != len(want) {
			t.Fatalf("since version %d: %d requests, want %d", since, len(got), len(want))
		}
		for i := range got {
			if got[i].Status != want[i] {
				t.Errorf("since version %d: %+v", since, got)
			}
		}
	}
}
