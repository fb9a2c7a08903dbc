package account

import (
	"encoding/json"
	"hash/maphash"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Frame is a line of the form in which a picture leaves the process, behind the
// header; form/FORMAT.md describes it. Several lines with More in all but the last
// make one frame. Its JSON is that of its types: nothing else spells them.
type Frame struct {
	At            time.Time                  `json:"at"`
	Glance        bool                       `json:"glance,omitempty"` // a small picture that stands before the whole one, for a screen that starts; others skip it
	Whole         bool                       `json:"whole,omitempty"`  // nothing that was told before holds any more
	More          bool                       `json:"more,omitempty"`   // the next line belongs to the same moment
	Marks         []string                   `json:"marks,omitempty"`  // what a person may look for
	Intents       []*IntentDetail            `json:"intents,omitempty"`
	Rereads       []Reread                   `json:"rereads,omitempty"`
	Shipments     []*Shipment                `json:"shipments,omitempty"`
	GoneIntents   []api.ID                   `json:"goneIntents,omitempty"`   // that are no longer kept
	GoneShipments []api.ID                   `json:"goneShipments,omitempty"` // likewise
	Events        []*Event                   `json:"events,omitempty"`
	EventsSkipped int                        `json:"eventsSkipped,omitempty"` // events that came faster than they could be kept
	Requests      []api.Exchange             `json:"requests,omitempty"`
	Buckets       []quota.Bucket             `json:"buckets,omitempty"`     // those that changed, with the samples that did
	AllBuckets    bool                       `json:"allBuckets,omitempty"`  // the buckets told are all there are, with all samples
	Limits        []Limit                    `json:"limits,omitempty"`      // those that changed, with what is new of what was used
	Spenders      []Spender                  `json:"spenders,omitempty"`    // those that changed, with what is new of what they use
	AllSpenders   bool                       `json:"allSpenders,omitempty"` // the spenders told are all there are, with all that they use
	Summary       map[string]json.RawMessage `json:"summary,omitempty"`     // the fields of [Summary] that changed; null where one is empty now
	LeftOut       int                        `json:"leftOut,omitempty"`     // things that were too large to be told
	Memory        *Memory                    `json:"memory,omitempty"`      // in a saved picture, for the next run alone
	End           string                     `json:"end,omitempty"`         // why nothing follows
}

// FrameTeller turns what a screen is fed into frames that tell what changed since
// the frame before, without what is not for strangers.
type FrameTeller struct {
	// Detail tells all that is known of an intent; [Store.Intent] does.
	Detail func(api.ID) (*IntentDetail, bool)
	// Put takes a line. It refuses one that is too long by [form.ErrLongLine].
	Put func(*Frame) error

	summary map[string]json.RawMessage // as told
	quota   ToldQuota
	told    map[api.ID]uint64 // of each intent a hash of what was told
	seed    maphash.Seed
}

// Tell puts what changed, as one frame. It puts none where nothing did, unless
// there are marks or the picture is whole.
func (t *FrameTeller) Tell(c *Changes, marks []string) error {
	if c.Whole {
		t.summary, t.quota, t.told = nil, ToldQuota{}, nil
	}
	f := Frame{
		At: c.At.UTC(), Whole: c.Whole, Marks: marks, EventsSkipped: c.EventsSkipped,
		GoneIntents: c.GoneIntents, GoneShipments: c.GoneShipments,
	}
	for _, id := range c.GoneIntents {
		delete(t.told, id)
	}
	for _, in := range c.Intents {
		all, ok := t.Detail(in.ID)
		if !ok {
			all = &IntentDetail{Intent: *in}
		}
		t.tellIntent(&f, shareIntent(all))
	}
	for _, sh := range c.Shipments {
		f.Shipments = append(f.Shipments, shareShipment(sh))
	}
	for _, e := range c.Events {
		f.Events = append(f.Events, shareEvent(e))
	}
	for i := range c.Requests {
		f.Requests = append(f.Requests, shareRequest(c.Requests[i]))
	}
	t.tellQuota(&f, &c.Summary)
	f.Spenders = shareSpenders(f.Spenders)
	var err error
	if f.Summary, err = t.newSummary(c.Summary); err != nil {
		return err
	}
	if f.items()+len(f.GoneIntents)+len(f.GoneShipments) == 0 && !f.Whole && len(marks) == 0 && f.EventsSkipped == 0 && len(f.Summary) == 0 && !f.AllBuckets && !f.AllSpenders {
		return nil
	}
	return putFrame(&f, t.Put)
}

// newSummary are the fields of a summary that differ from what was told.
func (t *FrameTeller) newSummary(sum Summary) (map[string]json.RawMessage, error) {
	sum = shareSummary(sum)
	sum.Quota, sum.Limits, sum.Spenders = nil, nil, nil // told one by one
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

// MergeSummary takes what changed of a summary into the fields that were told
// before, which [SummaryOf] reads.
func MergeSummary(told, news map[string]json.RawMessage) {
	for name, field := range news {
		if string(field) == "null" {
			delete(told, name)
		} else {
			told[name] = field
		}
	}
}

// SummaryOf is a summary of its fields, with what was told of the quota. Fields
// that cannot be read are left out. Its texts are safe to draw.
func SummaryOf(told map[string]json.RawMessage, quota ToldQuota) Summary {
	var sum Summary
	for name, field := range told {
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
