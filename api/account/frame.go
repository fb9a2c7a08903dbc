package account

import (
	"encoding/json"
	"hash/maphash"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Frame is one line of the saved or streamed form of a picture, after its header; form/FORMAT.md describes it.
// Several lines make one frame: all but the last have More set. The JSON of these types is the format.
type Frame struct {
	At            time.Time                  `json:"at"`
	Whole         bool                       `json:"whole,omitempty"` // discard everything earlier
	More          bool                       `json:"more,omitempty"`  // the next line belongs to the same frame
	Intents       []*IntentDetail            `json:"intents,omitempty"`
	Rereads       []Reread                   `json:"rereads,omitempty"`
	Shipments     []*Shipment                `json:"shipments,omitempty"`
	GoneIntents   []api.ID                   `json:"goneIntents,omitempty"`   // dropped
	GoneShipments []api.ID                   `json:"goneShipments,omitempty"` // dropped
	Events        []*Event                   `json:"events,omitempty"`
	EventsSkipped int                        `json:"eventsSkipped,omitempty"` // events that arrived faster than they could be kept
	Requests      []api.Exchange             `json:"requests,omitempty"`
	Buckets       []quota.Bucket             `json:"buckets,omitempty"`     // those that changed, with the samples that did
	AllBuckets    bool                       `json:"allBuckets,omitempty"`  // Buckets holds all buckets with all samples
	Limits        []Limit                    `json:"limits,omitempty"`      // those that changed, with the entries that did
	Spenders      []Spender                  `json:"spenders,omitempty"`    // those that changed, with the entries that did
	AllSpenders   bool                       `json:"allSpenders,omitempty"` // Spenders holds all spenders with all entries
	Summary       map[string]json.RawMessage `json:"summary,omitempty"`     // the fields of [Summary] that changed; null for one that is now empty
	LeftOut       int                        `json:"leftOut,omitempty"`     // items that were too large to write
	Memory        *Memory                    `json:"memory,omitempty"`      // in a saved picture, only for the next run
	End           string                     `json:"end,omitempty"`         // why nothing follows
}

// FrameWriter writes what changed since the last frame, masked for sharing.
type FrameWriter struct {
	// Detail returns all that is known of an intent, as [Store.Intent] does.
	Detail func(api.ID) (*IntentDetail, bool)
	// Put writes one line. It refuses one that is too long with [form.ErrLongLine].
	Put func(*Frame) error

	summary map[string]json.RawMessage // as last written
	quota   frameQuota
	written map[api.ID]writtenIntent
	hash    maphash.Hash
}

// Write writes what changed as one frame; none if nothing did, unless the picture is whole.
func (t *FrameWriter) Write(c *Changes) error {
	if c.Whole {
		t.summary, t.quota, t.written = nil, frameQuota{}, nil
	}
	f := Frame{
		At: c.At.UTC(), Whole: c.Whole, EventsSkipped: c.EventsSkipped,
		GoneIntents: c.GoneIntents, GoneShipments: c.GoneShipments,
	}
	t.addQuota(&f, &c.Summary)
	f.Spenders = shareSpenders(f.Spenders)
	var err error
	if f.Summary, err = t.newSummary(c.Summary); err != nil {
		return err
	}
	changed := f.items() + len(c.Intents) + len(c.Shipments) + len(c.Events) + len(c.Requests) + len(f.GoneIntents) + len(f.GoneShipments)
	if changed == 0 && !f.Whole && f.EventsSkipped == 0 && len(f.Summary) == 0 && !f.AllBuckets && !f.AllSpenders {
		return nil
	}
	if err := t.putItems(&f, c); err != nil {
		return err
	}
	return putFrame(&f, t.Put)
}

// putItems adds the items that changed to a frame, and writes its beginning line by line: copies of a whole picture
// would take as much memory again.
func (t *FrameWriter) putItems(f *Frame, c *Changes) error {
	for _, id := range c.GoneIntents {
		delete(t.written, id)
	}
	for _, in := range c.Intents {
		all, ok := t.Detail(in.ID)
		if !ok {
			all = &IntentDetail{Intent: *in}
		}
		t.addIntent(f, all)
		if err := t.putFull(f); err != nil {
			return err
		}
	}
	for _, sh := range c.Shipments {
		f.Shipments = append(f.Shipments, sh.Shared())
		if err := t.putFull(f); err != nil {
			return err
		}
	}
	for _, e := range c.Events {
		f.Events = append(f.Events, shareEvent(e))
		if err := t.putFull(f); err != nil {
			return err
		}
	}
	for i := range c.Requests {
		f.Requests = append(f.Requests, SharedRequest(c.Requests[i]))
	}
	return nil
}

// putFull writes the items of a frame, as its beginning, once they fill a line.
func (t *FrameWriter) putFull(f *Frame) error {
	if f.items() < mostItems {
		return nil
	}
	var first Frame
	first, *f = f.cutAt(f.items())
	return putFrame(&first, t.Put)
}

// newSummary returns the fields of a summary that differ from those last written.
func (t *FrameWriter) newSummary(sum Summary) (map[string]json.RawMessage, error) {
	sum.Quota, sum.Limits, sum.Spenders = nil, nil, nil // written entry by entry
	sum = sum.Shared()
	whole, err := json.Marshal(sum)
	if err != nil {
		return nil, err
	}
	var now map[string]json.RawMessage
	if err := json.Unmarshal(whole, &now); err != nil {
		return nil, err
	}
	news := map[string]json.RawMessage{}
	for name, field := range now {
		if string(t.summary[name]) != string(field) {
			news[name] = field
		}
	}
	for name := range t.summary {
		if _, ok := now[name]; !ok {
			news[name] = json.RawMessage("null")
		}
	}
	t.summary = now
	return news, nil
}

// mergeSummary merges news, the fields of a frame's summary, into fields, which [summaryOf] reads.
func mergeSummary(fields, news map[string]json.RawMessage) {
	for name, field := range news {
		if string(field) == "null" {
			delete(fields, name)
		} else {
			fields[name] = field
		}
	}
}

// summaryOf returns the summary with the merged fields and quota. It leaves out fields that it cannot read. Its
// texts are safe to draw.
func summaryOf(fields map[string]json.RawMessage, quota frameQuota) Summary {
	var sum Summary
	for name, field := range fields {
		before := sum
		one, _ := json.Marshal(map[string]json.RawMessage{name: field})
		if json.Unmarshal(one, &sum) != nil {
			sum = before
		}
	}
	scrubTexts(&sum)
	sum.Quota, sum.Limits, sum.Spenders = quota.Buckets, quota.Limits, quota.Spenders
	return sum
}
