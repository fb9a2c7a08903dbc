package account

import (
	"encoding/json"
	"hash/maphash"
	"time"

	"tillwatch/api"
)

// Reread tells of an intent of which the line tells nothing else that a read showed
// nothing new. Most reads are such.
type Reread struct {
	ID        api.ID    `json:"id"`
	ReadAt    time.Time `json:"readAt,omitzero"`
	Reads     int       `json:"reads"`
	Unchanged *Moment   `json:"unchanged,omitempty"` // stands at the end of the timeline, in place of one of its kind
}

// tellIntent tells an intent, or where nothing but reads is new of it, those.
func (t *FrameTeller) tellIntent(f *Frame, in *IntentDetail) {
	steady := *in
	steady.ReadAt, steady.Reads = time.Time{}, 0
	var last *Moment
	if n := len(in.Timeline); n > 0 && in.Timeline[n-1].What == Unchanged {
		last, steady.Timeline = &in.Timeline[n-1], in.Timeline[:n-1]
	}
	raw, err := json.Marshal(&steady)
	if err != nil { // it is left out where it is written
		f.Intents = append(f.Intents, in)
		return
	}
	if t.told == nil {
		t.told, t.seed = map[api.ID]uint64{}, maphash.MakeSeed()
	}
	now := maphash.Bytes(t.seed, raw)
	before, known := t.told[in.ID]
	t.told[in.ID] = now
	if known && before == now {
		f.Rereads = append(f.Rereads, Reread{in.ID, in.ReadAt, in.Reads, last})
	} else {
		f.Intents = append(f.Intents, in)
	}
}

// Of returns an intent as it is after the read.
func (r *Reread) Of(before *IntentDetail) *IntentDetail {
	in := *before
	in.ReadAt, in.Reads = r.ReadAt, r.Reads
	if r.Unchanged == nil {
		return &in
	}
	line := in.Timeline
	if n := len(line); n > 0 && line[n-1].What == Unchanged {
		line = line[:n-1]
	}
	in.Timeline = append(line[:len(line):len(line)], *r.Unchanged)
	return &in
}
