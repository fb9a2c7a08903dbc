package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"testing"

	"tillwatch/api"
)

func TestAnEventBehindAByteOrderMarkIsStoredAsItCame(t *testing.T) {
	memory := newMemory(t)
	body := append([]byte("\ufeff"), eventBody(1)...)
	if w := serve(newTestRelay(t, memory, nil).Ingest(), signedRequest(body)); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != 1 || !bytes.Equal(records[0].Body, body) {
		t.Fatalf("stored: %v, %v", records, err)
	}
	if item := itemFrom(itemOf(records[0])); item.Event.Source.ID == "" || !bytes.Equal(item.Event.Raw, body) {
		t.Errorf("read as %+v", item.Event)
	}
}

func TestEventsWhoseIDsDifferInHalvesOfSurrogatePairsAreBothStored(t *testing.T) {
	var events []api.Event
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	for _, id := range []string{`evt_\ud83d_q`, `evt_\ud83e_q`, `evt_\ud83d\ud83d_q`, "evt_\ufffd_q"} {
		body := []byte(`{"id":"` + id + `","type":"a","source":{"type":"b","id":"c"}}`)
		for _, outcome := range []string{"stored", "repeated"} {
			if w := serve(r.Ingest(), signedRequest(body)); w.Code != http.StatusOK {
				t.Errorf("%s, %s: %d %s", id, outcome, w.Code, w.Body)
			}
		}
		event, err := api.DecodeEvent(body)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != len(events) {
		t.Fatalf("%d events are stored, want %d: %v", len(records), len(events), err)
	}
	for i, record := range records {
		if record.Duplicates != 1 || record.Conflicts != 0 || !bytes.Equal(record.Body, events[i].Raw) {
			t.Errorf("%+v", record)
		}
		text, err := json.Marshal(itemOf(record))
		var sent wireItem
		if err = cmp.Or(err, json.Unmarshal(text, &sent)); err != nil || sent.ID != record.ID || itemFrom(sent).Event.ID != events[i].ID {
			t.Errorf("%q is sent as %q, %v", record.ID, sent.ID, err)
		}
		found, ok, err := memory.Find(t.Context(), string(events[i].ID))
		if err != nil || !ok || found.Seq != record.Seq {
			t.Errorf("%q is not found by its id: %v", events[i].ID, err)
		}
	}
}
