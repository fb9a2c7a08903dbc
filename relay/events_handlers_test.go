package relay

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tillwatch/relay/journal"
)

func get(t *testing.T, r *Relay, path string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Header.Set("Authorization", "Bearer "+testToken)
	return serve(r.Admin(), req)
}

func TestPagesOfEvents(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 30)
	if _, err := memory.Prune(t.Context(), receivedAt(6)); err != nil {
		t.Fatal(err)
	}
	r := newTestRelay(t, memory, nil)
	for _, test := range []struct {
		query string
		seqs  []int64
		next  string
	}{
		{"", row(6, 30), "epoch:30"},
		{"?limit=3", row(6, 8), "epoch:8"},
		{"?after=8&limit=3", row(9, 11), "epoch:11"},
		{"?after=epoch:28", row(29, 30), "epoch:30"},
		{"?after=30", nil, "epoch:30"},
		{"?limit=2&type=shipment.*", []int64{6, 8}, "epoch:8"},
		{"?after=26&type=shipment.updated&type=product.*", row(27, 30), "epoch:30"},
		{"?type=none", nil, "epoch:30"},
	} {
		t.Run(test.query, func(t *testing.T) {
			w := get(t, r, EventsPath+test.query)
			var got struct {
				Epoch        string
				Head, Oldest int64
				Next         string
				Events       []wireItem
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
			var seqs []int64
			for _, item := range got.Events {
				seqs = append(seqs, item.Seq)
			}
			if !slices.Equal(seqs, test.seqs) || got.Next != test.next || got.Epoch != "epoch" || got.Head != 30 || got.Oldest != 6 {
				t.Errorf("page %+v", got)
			}
		})
	}
}

func TestQueriesThatCannotBeAnswered(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 30)
	r := newTestRelay(t, memory, nil)
	for _, after := range []string{"31", "epoch:31", "9223372036854775807"} { // it would pass over the events that come
		w := get(t, r, EventsPath+"?after="+after)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "newest is 30") {
			t.Errorf("after %s: %d %s", after, w.Code, w.Body)
		}
	}
	for _, query := range []string{"?after=x", "?after=-1", "?after=other:3", "?limit=0", "?limit=1001", "?limit=x", "?type=", "?type=*a",
		"?after=0;limit=1", "?after=0&limit=1%zz"} {
		if w := get(t, r, EventsPath+query); w.Code != http.StatusUnprocessableEntity || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=51", "?limit=1%zz"} {
		if w := get(t, r, QuarantinePath+query); w.Code != http.StatusUnprocessableEntity || !json.Valid(w.Body.Bytes()) {
			t.Errorf("quarantine%s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestTheRawBodyIsServedAsItWasSigned(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	id := "evt_shop.example:chili/crisp ü?"
	body := []byte("{\"id\":\"x\"}\r\n")
	_, err := memory.Append(t.Context(), []journal.Entry{{ID: "pruned"}, {ID: id, Body: body, Received: receivedAt(9)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memory.Prune(t.Context(), receivedAt(9)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		id     string
		status int
	}{{id, http.StatusOK}, {"unknown", http.StatusNotFound}, {"pruned", http.StatusGone}} {
		w := get(t, r, EventsPath+"/"+url.PathEscape(test.id)+"/raw")
		if w.Code != test.status {
			t.Errorf("%s: %d %s", test.id, w.Code, w.Body)
		}
		if exact := w.Body.String() == string(body); exact != (test.status == http.StatusOK) {
			t.Errorf("%s: %q", test.id, w.Body)
		}
	}
}

func TestAJournalThatCannotBeReadIsReportedWithoutItsError(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	if err := memory.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{EventsPath, EventsPath + "/1/raw"} {
		w := get(t, r, path)
		if w.Code != http.StatusServiceUnavailable || !json.Valid(w.Body.Bytes()) ||
			strings.Contains(w.Body.String(), journal.ErrClosed.Error()) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
