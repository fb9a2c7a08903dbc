package quota

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestWhatRemainsIsWrittenWhereItIsKnown(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		bucket Bucket
		want   string
	}{
		{"nothing was reported", Bucket{Class: Reads, Limit: 10, Window: time.Second, ObservedAt: at, Unreported: true},
			`{"class":"reads","limit":10,"windowNs":1000000000,"observedAt":"2026-03-04T12:00:00Z","unreported":true}`},
		{"nothing remains", Bucket{Class: Reads, Limit: 10, Exhausted: 1}, `{"class":"reads","limit":10,"exhaustedNs":1,"remaining":0}`},
		{"some remain", Bucket{Class: Reads, Remaining: 7, History: []Sample{{At: at, Known: true}}},
			`{"class":"reads","history":[{"at":"2026-03-04T12:00:00Z","known":true}],"remaining":7}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.bucket)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			var again Bucket
			if err := json.Unmarshal(got, &again); err != nil || !reflect.DeepEqual(again, c.bucket) {
				t.Errorf("read again as %+v, %v", again, err)
			}
		})
	}
	var earlier Bucket
	err := json.Unmarshal([]byte(`{"class":"reads","remaining":0,"unreported":true}`), &earlier)
	if err != nil || !earlier.Unreported || earlier.Left(at) != 0 {
		t.Errorf("an earlier build's is read as %+v, %v", earlier, err)
	}
}
