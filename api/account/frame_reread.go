package account

import (
	"encoding/json"
	"hash/maphash"
	"time"

	"tillwatch/api"
)

// Reread says that a read of an intent showed nothing new. Most reads are such; the line holds nothing else of the
// intent.
type Reread struct {
	ID        api.ID    `json:"id"`
	ReadAt    time.Time `json:"readAt,omitzero"`
	Reads     int       `json:"reads"`
	Unchanged *Moment   `json:"unchanged,omitempty"` // the last entry of the timeline, replacing one of its kind
}

// addIntent writes an intent, or a [Reread] if nothing but reads is new.
func (t *FrameWriter) addIntent(f *Frame, in *IntentDetail) {
	steady := *in
	steady.ReadAt, steady.Reads = time.Time{}, 0
	var last *Moment
	if n := len(in.Timeline); n > 0 && in.Timeline[n-1].What == Unchanged {
		last, steady.Timeline = &in.Timeline[n-1], in.Timeline[:n-1]
	}
	raw, err := json.Marshal(&steady)
	if err != nil { // putFrame leaves it out
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

// Of returns the intent as it is after the read.
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
