package journal_test

import (
	"testing"
	"time"

	"tillwatch/relay/journal"
)

func quarantine(t *testing.T, s *subject) {
	j := s.opened()
	for i, body := range []string{"first", "", "third"} {
		must(t, j.Quarantine(t.Context(), journal.Unreadable{
			Received: start.Add(time.Duration(i) * time.Second), Reason: "not JSON", Body: []byte(body),
		}))
	}
	newest, err := j.Quarantined(t.Context(), 2)
	must(t, err)
	if len(newest) != 2 || string(newest[0].Body) != "third" || len(newest[1].Body) != 0 ||
		newest[0].Reason != "not JSON" || !newest[0].Received.Equal(start.Add(2*time.Second)) {
		t.Errorf("the newest two are %+v", newest)
	}
	expectRange(t, j, 1, 0)
	_, err = j.Prune(t.Context(), start.Add(2*time.Second))
	must(t, err)
	if left, err := j.Quarantined(t.Context(), 10); err != nil || len(left) != 1 {
		t.Errorf("%d are left after a prune, error %v", len(left), err)
	}
}

func quarantineIsBounded(t *testing.T, s *subject) {
	j := s.opened()
	for i := range journal.MostQuarantined + 2 {
		must(t, j.Quarantine(t.Context(), journal.Unreadable{Received: start, Reason: "not JSON", Body: []byte{byte(i)}}))
	}
	kept, err := j.Quarantined(t.Context(), 10*journal.MostQuarantined)
	must(t, err)
	if len(kept) != journal.MostQuarantined || kept[0].Body[0] != journal.MostQuarantined+1 || kept[len(kept)-1].Body[0] != 2 {
		t.Errorf("%d of %d quarantined bodies are kept; the newest %d should be", len(kept), journal.MostQuarantined+2, journal.MostQuarantined)
	}
}

func quarantineReadsAreBounded(t *testing.T, s *subject) {
	j := s.opened()
	for i := range 6 {
		body := make([]byte, journal.QuarantineBytes/3)
		body[0] = byte(i)
		must(t, j.Quarantine(t.Context(), journal.Unreadable{Received: start, Reason: "not UTF-8", Body: body}))
	}
	newest, err := j.Quarantined(t.Context(), 6)
	must(t, err)
	// The bodies of three have two bytes less.
	if len(newest) != 4 || newest[0].Body[0] != 5 || newest[3].Body[0] != 2 {
		t.Errorf("%d bodies, want the newest four", len(newest))
	}
}
