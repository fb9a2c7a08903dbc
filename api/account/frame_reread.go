package account

import (
	"reflect"
	"slices"
	"time"

	"tillwatch/api"
)

// Reread says that nothing of an intent is new but its reads and the end of its timeline, as most reads and the events
// of its shipments leave it. The line holds nothing else of the intent.
type Reread struct {
	ID        api.ID    `json:"id"`
	ReadAt    time.Time `json:"readAt,omitzero"`
	Reads     int       `json:"reads"`
	Moments   []*Moment `json:"moments,omitempty"`   // new entries at the end of the timeline
	Unchanged *Moment   `json:"unchanged,omitempty"` // the last entry of the timeline, behind Moments, if it counts reads
}

// addIntent writes an intent, or a [Reread] if that says all that is new.
func (t *FrameWriter) addIntent(f *Frame, in *IntentDetail) {
	before := t.told[in.ID]
	if t.told == nil {
		t.told = map[api.ID]*IntentDetail{}
	}
	t.told[in.ID] = in.withoutBody()
	if r, ok := in.rereadSince(before); ok {
		f.Rereads = append(f.Rereads, r)
	} else {
		f.Intents = append(f.Intents, shareIntent(in))
	}
}

// rereadSince returns what is new since before; false if a [Reread] cannot say it. before is nil if all is new.
func (i *IntentDetail) rereadSince(before *IntentDetail) (Reread, bool) {
	if before == nil {
		return Reread{}, false
	}
	kept, now := before.moments(), i.moments()
	if len(now) < len(kept) || !slices.Equal(kept, now[:len(kept)]) || !reflect.DeepEqual(before.steady(), i.steady()) {
		return Reread{}, false
	}
	r := Reread{i.ID, i.ReadAt.UTC(), i.Reads, now[len(kept):], i.unchanged()}
	return r, r.renews() || before.unchanged() == nil
}

// withoutBody returns the intent without the body of its newest read, which can be larger than all the rest.
func (i *IntentDetail) withoutBody() *IntentDetail {
	if i.Latest == nil || i.Latest.Raw == nil {
		return i
	}
	all, read := *i, *i.Latest
	read.Raw = nil
	all.Latest = &read
	return &all
}

// steady returns the intent without its timeline and the fields that every read changes.
func (i *IntentDetail) steady() *IntentDetail {
	s := *i
	s.ReadAt, s.Reads, s.Version, s.basis, s.Timeline = time.Time{}, 0, 0, basis{}, nil
	if s.Latest != nil {
		read := *s.Latest
		read.Raw, read.Response = nil, api.Response{}
		s.Latest = &read
	}
	return &s
}

// moments returns the timeline without a last entry that counts reads.
func (i *IntentDetail) moments() []*Moment {
	if i.unchanged() != nil {
		return i.Timeline[:len(i.Timeline)-1]
	}
	return i.Timeline
}

// unchanged returns the moment at the end of the timeline that counts reads; nil if
// there is none.
func (i *IntentDetail) unchanged() *Moment {
	if n := len(i.Timeline); n > 0 && i.Timeline[n-1].What == Unchanged {
		return i.Timeline[n-1]
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
	in.Timeline = slices.Concat(before.moments(), r.Moments)
	if r.Unchanged != nil {
		in.Timeline = append(in.Timeline, r.Unchanged)
	}
	return &in
}
