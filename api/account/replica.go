package account

import (
	"encoding/json"
	"time"

	"tillwatch/api"
)

// Replica is a picture rebuilt from its frames, such as those of a recording. It keeps as many events and requests
// as a [Store] does by default, and is not safe for concurrent use.
type Replica struct {
	news      *news
	intents   table[IntentDetail]
	shipments table[Shipment]
	events    events
	requests  requestLog
	skipped   []skip                     // the newest last
	fields    map[string]json.RawMessage // the fields of the summary
	quota     frameQuota
	summary   Summary // of the version summed
	summed    uint64
}

// skip counts the events that were left out before a version.
type skip struct {
	version uint64
	events  int
}

// NewReplica returns an empty replica.
func NewReplica() *Replica { return newReplica(&news{}) }

func newReplica(n *news) *Replica {
	cfg := StoreConfig{}.withDefaults()
	return &Replica{
		news: n, intents: newIntentTable(n), shipments: newShipmentTable(n), events: newEvents(n, cfg.KeepEvents),
		requests: requestLog{news: n, keep: cfg.KeepRequests}, fields: map[string]json.RawMessage{},
	}
}

// Clear empties the replica. Whoever follows it gets the whole picture next.
func (r *Replica) Clear() {
	r.Touch()
	*r = *newReplica(r.news)
	r.intents.cut = r.news.version
}

// Touch begins a new version without a change.
func (r *Replica) Touch() {
	r.news.stamp()
	r.news.publish()
}

// Apply takes in the lines of one frame as a new version. Of a whole picture, only what differs is a change.
func (r *Replica) Apply(lines []*Frame) {
	r.news.stamp()
	var whole map[api.ID]bool // the ids in a whole picture
	var since time.Time       // of a whole picture, only later requests are new
	for _, f := range lines {
		if f.Whole {
			whole = map[api.ID]bool{}
			clear(r.fields)
			if n := len(r.requests.list); n > 0 {
				since = r.requests.list[n-1].exchange.Sent
			}
		}
		r.applyLine(f, since)
		if whole == nil && f.EventsSkipped > 0 { // a whole picture counts all events that are no longer kept
			r.skipped = newest(append(r.skipped, skip{r.news.version, f.EventsSkipped}), mostGone)
		}
		if whole == nil {
			continue
		}
		for _, in := range f.Intents {
			whole[in.ID] = true
		}
		for _, sh := range f.Shipments {
			whole[sh.ID] = true
		}
	}
	if whole != nil {
		r.intents.dropUnless(whole)
		r.shipments.dropUnless(whole)
	}
	r.news.publish()
}

// applyLine takes in a line, but no request from before since.
func (r *Replica) applyLine(f *Frame, since time.Time) {
	for _, id := range f.GoneIntents {
		r.intents.drop(id)
	}
	for _, id := range f.GoneShipments {
		r.shipments.drop(id)
	}
	for _, in := range f.Intents {
		r.intents.put(in)
	}
	for _, reread := range f.Rereads {
		if before := r.intents.get(reread.ID); before != nil {
			r.intents.put(reread.Of(before))
		}
	}
	for _, sh := range f.Shipments {
		r.shipments.put(sh)
	}
	for _, e := range f.Events {
		r.events.put(e)
	}
	for _, e := range f.Requests {
		if since.IsZero() || e.Sent.After(since) {
			r.requests.add(e)
		}
	}
	mergeSummary(r.fields, f.Summary)
	r.quota.merge(f)
}

// Changes returns what changed after version since; 0 returns the whole picture. It does not set the time.
func (r *Replica) Changes(since uint64) Changes {
	if r.summed != r.news.version {
		r.summary, r.summed = summaryOf(r.fields, r.quota), r.news.version
	}
	c := changesSince(since, &r.intents, &r.shipments, &r.events, &r.requests)
	c.Summary = r.summary
	for _, s := range r.skipped {
		if s.version > since && !c.Whole {
			c.EventsSkipped += s.events
		}
	}
	return c
}

// Changed returns a channel that is closed once there is a version after since; nil if there is one already.
func (r *Replica) Changed(since uint64) <-chan struct{} { return r.news.after(since) }

// Intent returns all that the frames have said of one intent.
func (r *Replica) Intent(id api.ID) (*IntentDetail, bool) {
	in := r.intents.get(id)
	return in, in != nil
}
