package account

import (
	"reflect"
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
	before := t.told[in.ID]
	if t.told == nil {
		t.told = map[api.ID]*IntentDetail{}
	}
	t.told[in.ID] = in
	if before == nil || !reflect.DeepEqual(before.steady(), in.steady()) {
		f.Intents = append(f.Intents, shareIntent(in))
		return
	}
	f.Rereads = append(f.Rereads, Reread{in.ID, in.ReadAt.UTC(), in.Reads, in.unchanged()})
}

// steady returns the intent without the fields that every read changes.
func (i *IntentDetail) steady() *IntentDetail {
	s := *i
	s.ReadAt, s.Reads, s.Version, s.basis = time.Time{}, 0, 0, basis{}
	if s.unchanged() != nil {
		s.Timeline = s.Timeline[:len(s.Timeline)-1]
	}
	if s.Latest != nil {
		read := *s.Latest
		read.Raw, read.Response = nil, api.Response{}
		s.Latest = &read
	}
	return &s
}

// unchanged returns the moment at the end of the timeline that counts reads; nil if
// there is none.
func (i *IntentDetail) unchanged() *Moment {
	if n := len(i.Timeline); n > 0 && i.Timeline[n-1].What == Unchanged {
		return i.Timeline[n-1]
	}
	return nil
}

// Of returns the intent as it is after the read.
func (r *Reread) Of(before *IntentDetail) *IntentDetail {
	in := *before
	in.ReadAt, in.Reads = r.ReadAt, r.Reads
	if r.Unchanged == nil {
		return &in
	}
	line := in.Timeline
	if in.unchanged() != nil {
		line = line[:len(line)-1]
	}
	in.Timeline = append(line[:len(line):len(line)], r.Unchanged)
	return &in
}
