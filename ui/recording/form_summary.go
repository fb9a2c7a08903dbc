package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

var (
	feedStates = words{"off", "connecting", "replaying", "live", "lost", "refused"}
	apiStates  = words{"unknown", "healthy", "slow", "failing", "unauthorized"}
)

// summaryForm holds the parts of the summary that changed; the others are null.
type summaryForm struct {
	Intents   json.RawMessage `json:"intents,omitempty"`
	Shipments json.RawMessage `json:"shipments,omitempty"`
	Quota     json.RawMessage `json:"quota,omitempty"`
	Day       json.RawMessage `json:"day,omitempty"`
	Agents    json.RawMessage `json:"agents,omitempty"`
	Feed      json.RawMessage `json:"feed,omitempty"`
	Gaps      json.RawMessage `json:"gaps,omitempty"`
	API       json.RawMessage `json:"api,omitempty"`
	Events    json.RawMessage `json:"events,omitempty"`
	Reads     json.RawMessage `json:"reads,omitempty"`
	Pace      json.RawMessage `json:"pace,omitempty"`
	Alerts    json.RawMessage `json:"alerts,omitempty"`
	Last      json.RawMessage `json:"last,omitempty"`
}

type agentsForm struct {
	Placing int `json:"placing"`
	Limit   int `json:"limit"`
}

// dayForm is the day's count; what is left is told as of now.
type dayForm struct {
	Seen      int     `json:"seen"`
	Limit     int     `json:"limit"`
	Told      bool    `json:"told,omitempty"`
	Left      int     `json:"left,omitempty"`
	At        instant `json:"at,omitzero"`
	Resets    instant `json:"resets,omitzero"`
	Today     int     `json:"today,omitempty"`
	Calendar  bool    `json:"calendar,omitempty"`
	Assumed   bool    `json:"assumed,omitempty"`
	Spent     instant `json:"spent,omitzero"`
	Free      instant `json:"free,omitzero"`
	Exhausted int64   `json:"exhaustedNs,omitempty"`
}

func dayFormOf(d account.DayCount) dayForm {
	form := dayForm{Seen: d.Seen, Limit: d.Limit, Told: d.Told, Today: d.Today, Calendar: d.Calendar, Assumed: d.Assumed,
		Spent: instant(d.Spent), Free: instant(d.Free), Exhausted: int64(d.Exhausted)}
	if d.Told {
		form.Left, form.At, form.Resets = d.Left, instant(d.At), instant(d.Resets)
		if d.Limit > 0 {
			form.Left = d.Limit - d.Used()
		}
	}
	return form
}

func (d dayForm) count() account.DayCount {
	return account.DayCount{
		Seen: d.Seen, Limit: d.Limit, Told: d.Told, Left: d.Left, At: time.Time(d.At), Resets: time.Time(d.Resets),
		Today: d.Today, Calendar: d.Calendar, Assumed: d.Assumed, Spent: time.Time(d.Spent), Free: time.Time(d.Free), Exhausted: time.Duration(d.Exhausted),
	}
}

type feedForm struct {
	State    string  `json:"state"`
	Since    instant `json:"since,omitzero"`
	Epoch    string  `json:"epoch,omitempty"`
	Head     int64   `json:"head,omitempty"`
	Cursor   int64   `json:"cursor,omitempty"`
	LostFrom int64   `json:"lostFrom,omitempty"`
	LostTo   int64   `json:"lostTo,omitempty"`
	Reset    bool    `json:"reset,omitempty"`
	Err      string  `json:"error,omitempty"`
	RetryIn  int64   `json:"retryInNs,omitempty"` // counted from since
}

type apiForm struct {
	State   string  `json:"state"`
	Since   instant `json:"since,omitzero"`
	Latency int64   `json:"latencyNs,omitempty"`
	Err     string  `json:"error,omitempty"`
	From    string  `json:"from,omitempty"` // the environment that answered last
	Live    bool    `json:"live,omitempty"`
	TryAt   instant `json:"tryAt,omitzero"` // when a refused key is tried again
}

type countersForm struct {
	Received   int `json:"received"`
	Duplicate  int `json:"duplicate"`
	Late       int `json:"late"`
	Missed     int `json:"missed"`
	Backfilled int `json:"backfilled"`
}

type readsForm struct {
	Total        int `json:"total"`
	Reconciled   int `json:"reconciled,omitempty"`
	Failed       int `json:"failed"`
	Behind       int `json:"behind"`
	StateChanges int `json:"stateChanges"`
}

type paceForm struct {
	Count int   `json:"count"`
	P50   int64 `json:"p50Ns"`
	P95   int64 `json:"p95Ns"`
}

type alertForm struct {
	Kind   string  `json:"kind"`
	Text   string  `json:"text"`
	Intent string  `json:"intent,omitempty"`
	Since  instant `json:"since,omitzero"`
	Due    instant `json:"due,omitzero"`
}

type lastForm struct {
	Event instant `json:"event,omitzero"`
	Read  instant `json:"read,omitzero"`
}

// summarizer writes what changed of the summary since it was asked last.
type summarizer struct {
	told  summaryForm
	quota quotaWriter
}

// forget has it write everything the next time.
func (s *summarizer) forget() { *s = summarizer{} }

func (s *summarizer) encode(sum *account.Summary) (json.RawMessage, error) {
	var form summaryForm
	changed := false
	part := func(told, out *json.RawMessage, value any) error {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encoding the summary: %w", err)
		}
		if !bytes.Equal(raw, *told) {
			*told, *out, changed = raw, raw, true
		}
		return nil
	}
	paces := make(map[string]paceForm, len(sum.Pace))
	for state, p := range sum.Pace {
		paces[string(state)] = paceForm{p.Count, int64(p.P50), int64(p.P95)}
	}
	alerts := make([]alertForm, len(sum.Alerts))
	for i, a := range sum.Alerts {
		alerts[i] = alertForm{string(a.Kind), maskText(a.Text), string(a.Intent), instant(a.Since), instant(a.Due)}
	}
	f := sum.Feed
	for _, p := range []struct {
		told, out *json.RawMessage
		value     any
	}{
		{&s.told.Intents, &form.Intents, sum.Intents},
		{&s.told.Shipments, &form.Shipments, sum.Shipments},
		{&s.told.Day, &form.Day, dayFormOf(sum.Day)},
		{&s.told.Agents, &form.Agents, agentsForm{sum.Agents.Placing, sum.Agents.Limit}},
		{&s.told.Feed, &form.Feed, feedForm{feedStates.of(int(f.State)), instant(f.Since), f.Epoch, f.Head, f.Cursor,
			f.LostFrom, f.LostTo, f.Reset, errorText(f.Err), retryIn(&f)}},
		{&s.told.Gaps, &form.Gaps, sum.Gaps},
		{&s.told.API, &form.API, apiForm{apiStates.of(int(sum.API.State)), instant(sum.API.Since), int64(sum.API.Latency), errorText(sum.API.Err),
			sum.API.From.Name, sum.API.From.Live, instant(sum.API.TryAt)}},
		{&s.told.Events, &form.Events, countersForm(sum.Events)},
		{&s.told.Reads, &form.Reads, readsForm(sum.Reads)},
		{&s.told.Pace, &form.Pace, paces},
		{&s.told.Alerts, &form.Alerts, alerts},
		{&s.told.Last, &form.Last, lastForm{instant(sum.LastEvent), instant(sum.LastRead)}},
	} {
		if err := part(p.told, p.out, p.value); err != nil {
			return nil, err
		}
	}
	quotas, err := s.quota.encode(sum.Quota)
	if err != nil {
		return nil, err
	}
	if quotas != nil {
		form.Quota, changed = quotas, true
	}
	if !changed {
		return nil, nil
	}
	return json.Marshal(form)
}

// mergeSummary takes over what a line tells of the summary. What it held before
// is left as it was: it may have been handed out.
func mergeSummary(sum account.Summary, raw json.RawMessage) (account.Summary, error) {
	var form summaryForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return sum, fmt.Errorf("decoding the summary: %w", err)
	}
	var (
		intents   map[string]int
		shipments map[string]int
		day       dayForm
		agents    agentsForm
		feed      feedForm
		service   apiForm
		counters  countersForm
		reads     readsForm
		paces     map[string]paceForm
		alerts    []alertForm
		last      lastForm
		gaps      int
	)
	for _, p := range []struct {
		raw   json.RawMessage
		value any
		take  func()
	}{
		{form.Intents, &intents, func() { sum.Intents = countsOf[api.IntentState](intents) }},
		{form.Shipments, &shipments, func() { sum.Shipments = countsOf[api.ShipmentStatus](shipments) }},
		{form.Day, &day, func() { sum.Day = day.count() }},
		{form.Agents, &agents, func() { sum.Agents = account.AgentCount{Placing: agents.Placing, Limit: agents.Limit} }},
		{form.Feed, &feed, func() { sum.Feed = feed.status() }},
		{form.Gaps, &gaps, func() { sum.Gaps = gaps }},
		{form.API, &service, func() { sum.API = service.status() }},
		{form.Events, &counters, func() { sum.Events = account.EventCounters(counters) }},
		{form.Reads, &reads, func() { sum.Reads = account.ReadCounters(reads) }},
		{form.Pace, &paces, func() { sum.Pace = pacesOf(paces) }},
		{form.Alerts, &alerts, func() { sum.Alerts = alertsOf(alerts) }},
		{form.Last, &last, func() { sum.LastEvent, sum.LastRead = time.Time(last.Event), time.Time(last.Read) }},
	} {
		if len(p.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(p.raw, p.value); err != nil {
			return sum, fmt.Errorf("decoding the summary: %w", err)
		}
		p.take()
	}
	if len(form.Quota) == 0 {
		return sum, nil
	}
	var err error
	sum.Quota, err = mergeQuota(sum.Quota, form.Quota)
	return sum, err
}

func countsOf[K ~string](counts map[string]int) map[K]int {
	out := make(map[K]int, len(counts))
	for key, n := range counts {
		out[K(api.Scrub(key))] = n
	}
	return out
}

func pacesOf(paces map[string]paceForm) map[api.IntentState]account.Pace {
	out := make(map[api.IntentState]account.Pace, len(paces))
	for state, p := range paces {
		out[api.IntentState(api.Scrub(state))] = account.Pace{Count: p.Count, P50: time.Duration(p.P50), P95: time.Duration(p.P95)}
	}
	return out
}

func alertsOf(alerts []alertForm) []account.Alert {
	var out []account.Alert
	for _, a := range alerts {
		out = append(out, account.Alert{
			Kind: account.AlertKind(api.Scrub(a.Kind)), Text: string(api.Scrub(a.Text)), Intent: api.ScrubID(a.Intent),
			Since: time.Time(a.Since), Due: time.Time(a.Due),
		})
	}
	return out
}

func retryIn(f *account.FeedStatus) int64 {
	if f.RetryAt.IsZero() {
		return 0
	}
	return int64(f.RetryAt.Sub(f.Since))
}

func (f *feedForm) status() account.FeedStatus {
	status := account.FeedStatus{
		State: account.FeedState(feedStates.place(f.State)), Since: time.Time(f.Since), Epoch: string(api.Scrub(f.Epoch)),
		Head: f.Head, Cursor: f.Cursor, LostFrom: f.LostFrom, LostTo: f.LostTo, Reset: f.Reset,
		Err: errorOf(f.Err),
	}
	if f.RetryIn > 0 {
		status.RetryAt = status.Since.Add(time.Duration(f.RetryIn))
	}
	return status
}

func (f *apiForm) status() account.APIStatus {
	return account.APIStatus{
		State: account.APIState(apiStates.place(f.State)), Since: time.Time(f.Since),
		Latency: time.Duration(f.Latency), Err: errorOf(f.Err),
		From: api.Environment{Name: string(api.Scrub(f.From)), Live: f.Live}, TryAt: time.Time(f.TryAt),
	}
}
