package account

import (
	"encoding/json"
	"slices"
	"time"

	"tillwatch/api"
)

// Reread is the change of an intent of which only the reads and the end of the timeline are new. Most reads, and the
// events of its shipments, change no more.
type Reread struct {
	ID        api.ID    `json:"id"`
	ReadAt    time.Time `json:"readAt,omitzero"`
	Reads     int       `json:"reads"`
	Moments   []*Moment `json:"moments,omitempty"`   // new entries at the end of the timeline
	Unchanged *Moment   `json:"unchanged,omitempty"` // the last entry of the timeline, behind Moments, if it counts reads
}

// writtenIntent is what a [FrameWriter] remembers of an intent: just enough to find out what is new.
type writtenIntent struct {
	steady   uint64 // a hash of everything but the timeline and the fields that every read changes
	timeline []*Moment
}

// addIntent writes an intent, or a [Reread] if that says all that is new.
func (t *FrameWriter) addIntent(f *Frame, in *IntentDetail) {
	shared := in.Shared()
	before, written := t.written[in.ID]
	now := writtenIntent{t.steady(shared), in.Timeline}
	if t.written == nil {
		t.written = map[api.ID]writtenIntent{}
	}
	t.written[in.ID] = now
	if r, ok := in.rereadSince(before.timeline); written && ok && before.steady == now.steady {
		f.Rereads = append(f.Rereads, r)
	} else {
		f.Intents = append(f.Intents, shared)
	}
}

// steady hashes an intent as it is written, without its timeline and the fields that every read changes.
func (t *FrameWriter) steady(in *IntentDetail) uint64 {
	s := *in
	s.ReadAt, s.Reads, s.Timeline = time.Time{}, 0, nil
	t.hash.Reset()
	_ = json.NewEncoder(&t.hash).Encode(&s) // what JSON cannot hold is not written either
	return t.hash.Sum64()
}

// rereadSince returns what is new of the reads and the timeline; false if a [Reread] cannot say it.
func (i *IntentDetail) rereadSince(timeline []*Moment) (Reread, bool) {
	kept, now := moments(timeline), moments(i.Timeline)
	if len(now) < len(kept) || !slices.Equal(kept, now[:len(kept)]) {
		return Reread{}, false
	}
	r := Reread{i.ID, i.ReadAt.UTC(), i.Reads, shareMoments(now[len(kept):]), unchanged(i.Timeline)}
	return r, r.renews() || unchanged(timeline) == nil
}

// moments returns a timeline without a last entry that counts reads.
func moments(timeline []*Moment) []*Moment {
	if unchanged(timeline) != nil {
		return timeline[:len(timeline)-1]
	}
	return timeline
}

// unchanged returns the moment at the end of a timeline that counts reads; nil if there is none.
func unchanged(timeline []*Moment) *Moment {
	if n := len(timeline); n > 0 && timeline[n-1].What == Unchanged {
		return timeline[n-1]
	}
	return nil
}

// renews reports whether the timeline has a new end, which replaces a last entry that counts reads.
func (r *Reread) renews() bool { return len(r.Moments) > 0 || r.Unchanged != nil }

// Of returns the intent as it is after the read.
func (r *Reread) Of(before *IntentDetail) *IntentDetail {
	in := *before
	in.ReadAt, in.Reads = r.ReadAt, r.Reads
	if !r.renews() {
		return &in
	}
	in.Timeline = slices.Concat(moments(before.Timeline), r.Moments)
	if r.Unchanged != nil {
		in.Timeline = append(in.Timeline, r.Unchanged)
	}
	return &in
}
