package account

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Bounds of what is kept apart; the rest is counted together.
const (
	mostObserved  = 16 // spenders
	mostSpenders  = mostObserved + 6
	mostEndpoints = 16 // uses of a spender
	mostUses      = mostEndpoints + 4
	longestName   = 64 // bytes of a spender's name
)

// spenders counts who spends the quota, as far as seen.
type spenders struct {
	all     []*spender // in order of appearance
	counted countedIDs // observations
}

type spender struct {
	Spender
	uses []*use // in order of appearance
}

type use struct {
	Use
	book    seriesBook[Tally]
	latency paceHistory
}

func newSpenders() spenders { return spenders{counted: countedIDs{}} }

// own counts a request of this client.
func (s *spenders) own(e *api.Exchange, now time.Time) {
	if e.Sent.IsZero() {
		return // it was never sent
	}
	template, _, _ := strings.Cut(e.Path, "?")
	if e.Class != quota.Lookup {
		template, _ = quota.EndpointOf(e.Method, template, "")
	}
	s.get(Spender{Kind: SpenderOwn, Purpose: e.Priority}).count(e, template, now)
}

// observed counts another client's request, once. It returns the request as the list shows it.
func (s *spenders) observed(o *quota.Observation, now time.Time) (e api.Exchange, fresh bool) {
	id := api.ScrubID(o.ID)
	if id == "" || plausible(o.Sent).IsZero() || !s.counted.add(id, now) {
		return e, false
	}
	e = api.Exchange{
		Method: string(shortText(o.Method)), Path: string(api.Scrub(o.Endpoint)), Class: known(o.Class),
		Sent: earlier(o.Sent, now), Latency: max(o.Latency, 0), Status: o.Status,
	}
	who := s.observer(o, now)
	if e.By = who.Name; who.Kind == SpenderOthers {
		e.By = callerOf(o)
	}
	who.count(&e, e.Path, now)
	if o.IntentID != "" {
		e.Path = strings.Replace(e.Path, "{id}", string(api.ScrubID(o.IntentID)), 1)
	}
	return e, true
}

// known returns the class if the contract has it, else "".
func known(class quota.Class) quota.Class {
	if slices.Contains(quota.Classes(), class) {
		return class
	}
	return ""
}

// observer returns the spender of an observed request. If another key already has the name, the spender gets the
// name and the key.
func (s *spenders) observer(o *quota.Observation, now time.Time) *spender {
	name, key, count := callerOf(o), string(shortText(o.Key)), 0
	for _, other := range s.all {
		if other.Kind != SpenderObserved {
			continue
		}
		if count++; other.Key == key && (other.Name == name || other.Name == withKey(name, key)) {
			return other
		}
	}
	if slices.ContainsFunc(s.all, func(other *spender) bool { return other.Name == name }) {
		name = withKey(name, key)
	}
	if count >= mostObserved && !s.dropOldest(now) {
		return s.get(Spender{Kind: SpenderOthers})
	}
	return s.get(Spender{Kind: SpenderObserved, Name: name, Key: key})
}

// callerOf returns the name that an observed spender gives itself, else its key.
func callerOf(o *quota.Observation) api.Text {
	switch {
	case o.Spender != "":
		return shortText(o.Spender)
	case o.Key != "":
		return shortText("key " + o.Key)
	}
	return "without a key"
}

func shortText(s string) api.Text {
	if len(s) > longestName {
		s = strings.ToValidUTF8(s[:longestName], "")
	}
	return api.Scrub(s)
}

func withKey(name api.Text, key string) api.Text {
	return name + api.Text(" "+cmp.Or(key, "without a key"))
}

// dropOldest removes an observed spender that has sent nothing for a day; false if there is none.
func (s *spenders) dropOldest(now time.Time) bool {
	i := slices.IndexFunc(s.all, func(who *spender) bool {
		return who.Kind == SpenderObserved && now.Sub(who.Last) > wholeDay
	})
	if i >= 0 {
		s.all = slices.Delete(s.all, i, i+1)
	}
	return i >= 0
}

// get finds or makes a spender.
func (s *spenders) get(want Spender) *spender {
	for _, who := range s.all {
		if sameSpender(who.Spender, want) {
			return who
		}
	}
	who := &spender{Spender: want}
	s.all = append(s.all, who)
	return who
}

// sameSpender compares what identifies a spender.
func sameSpender(a, b Spender) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Purpose == b.Purpose && a.Key == b.Key
}

// sameUse compares what identifies a use.
func sameUse(a, b Use) bool { return a.Class == b.Class && a.Endpoint == b.Endpoint }

// count counts a request.
func (s *spender) count(e *api.Exchange, template string, now time.Time) {
	s.Last = later(s.Last, utc(e.Sent))
	u := s.use(Use{Class: e.Class, Endpoint: e.Method + " " + template})
	u.book.edit(e.Sent, now, func(at time.Time) Tally { return Tally{At: at} }, func(t *Tally) {
		t.Requests++
		switch {
		case e.Status == http.StatusTooManyRequests:
			t.Refused++
		case e.Status == 0, e.Status >= http.StatusBadRequest && (e.By != "" || e.Err != nil):
			t.Errors++
		}
	})
	if e.Status != 0 {
		u.latency.add(e.Latency)
	}
}

// use finds or makes a spender's use of an endpoint; if there are too many, its use of the class's other
// endpoints.
func (s *spender) use(want Use) *use {
	find := func() int { return slices.IndexFunc(s.uses, func(u *use) bool { return sameUse(u.Use, want) }) }
	i := find()
	if i < 0 && len(s.uses) >= mostEndpoints {
		want.Endpoint = ""
		i = find()
	}
	if i < 0 {
		s.uses = append(s.uses, &use{Use: want})
		i = len(s.uses) - 1
	}
	return s.uses[i]
}

// list returns who has spent in the last day, with the rest as inferred by the buckets.
func (s *spenders) list(buckets []quota.Bucket, now time.Time) []Spender {
	var all []Spender
	for _, who := range s.all {
		shown := who.Spender
		shown.Uses = nil
		for _, u := range who.uses {
			shown.Uses = append(shown.Uses, u.figures(now))
		}
		all = append(all, shown)
	}
	if rest := restOf(buckets); len(rest.Uses) > 0 {
		all = append(all, rest)
	}
	return all
}

func (u *use) figures(now time.Time) Use {
	f := u.Use
	f.Series = u.book.series(now)
	if len(u.latency.stays) > 0 {
		pace := u.latency.get()
		f.P50, f.P95 = pace.P50, pace.P95
	}
	return f
}

// restOf returns what the buckets infer of spenders that nobody saw.
func restOf(buckets []quota.Bucket) Spender {
	rest := Spender{Kind: SpenderRest}
	for _, class := range quota.Classes() {
		b := bucketOf(buckets, class)
		if b == nil {
			continue
		}
		use := Use{Class: class, Series: Series[Tally]{restIn(b.History), restIn(b.Hour), restIn(b.Day)}}
		for _, t := range use.Seconds {
			rest.Last = later(rest.Last, t.At)
		}
		if !use.empty() {
			rest.Uses = append(rest.Uses, use)
		}
	}
	return rest
}

func restIn(samples []quota.Sample) []Tally {
	var tallies []Tally
	for _, s := range samples {
		if s.Rest > 0 {
			tallies = append(tallies, Tally{At: utc(s.At), Requests: s.Rest})
		}
	}
	return tallies
}

// recall restores the spenders of an earlier run, with the names they had.
func (s *spenders) recall(saved []Spender, now time.Time) {
	for _, earlier := range saved {
		if earlier.Kind == SpenderRest || len(s.all) >= mostSpenders {
			continue
		}
		who := s.get(Spender{Kind: earlier.Kind, Name: earlier.Name, Purpose: earlier.Purpose, Key: earlier.Key})
		who.Last = later(who.Last, earlier.Last)
		for _, use := range earlier.Uses {
			u := who.use(Use{Class: known(use.Class), Endpoint: use.Endpoint})
			u.book.recall(use.Series, now)
		}
	}
}

// answersMemory is how long an endpoint took for its newest answers to a spender.
type answersMemory struct {
	By   Spender         `json:"by"`
	Use  Use             `json:"use"`
	Took []time.Duration `json:"tookNs"` // oldest first
}

func (s *spenders) answers() (all []answersMemory) {
	for _, who := range s.all {
		for _, u := range who.uses {
			if len(u.latency.stays) > 0 {
				all = append(all, answersMemory{who.Spender, u.Use, slices.Clone(u.latency.stays)})
			}
		}
	}
	return all
}

// recallAnswers restores what an earlier run kept of the spenders that are known.
func (s *spenders) recallAnswers(saved []answersMemory) {
	for _, m := range saved {
		for _, who := range s.all {
			for _, u := range who.uses {
				if !sameSpender(who.Spender, m.By) || !sameUse(u.Use, m.Use) {
					continue
				}
				for _, took := range newest(m.Took, keptStays) {
					u.latency.add(max(took, 0))
				}
			}
		}
	}
}
