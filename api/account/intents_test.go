package account

import (
	"testing"
	"time"

	"tillwatch/api"
)

// someIntents are none yet, as a store keeps them.
func someIntents(cfg StoreConfig) *intents {
	cfg = cfg.withDefaults()
	t := newIntents(&news{}, &cfg)
	return &t
}

func TestAnOutcomeSaysWhatAReadChanged(t *testing.T) {
	all := someIntents(StoreConfig{})
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	cases := []struct {
		name         string
		state        api.IntentState
		sent         time.Time
		url          api.Text
		from         api.IntentState
		moved, named bool
	}{
		{"the first read", api.RetrievingOffer, at(1), "", "", true, false},
		{"another state", api.AwaitingConfirmation, at(2), "https://a.example/wool-socks", api.RetrievingOffer, true, true},
		{"nothing new", api.AwaitingConfirmation, at(3), "https://a.example/wool-socks", api.AwaitingConfirmation, false, false},
		{"an earlier read that came later", api.RetrievingOffer, at(2), "https://a.example/mug", api.AwaitingConfirmation, false, false},
		{"a state that lies behind", api.RetrievingOffer, at(4), "", api.AwaitingConfirmation, false, false},
		{"the end", api.Completed, at(5), "https://a.example/wool-socks", api.AwaitingConfirmation, true, false},
	}
	for _, c := range cases {
		o := all.read(&api.Intent{ID: "ci_1", State: c.state, CreatedAt: noon, ProductURL: c.url}, c.sent, c.sent, ByRead)
		if o.from != c.from || o.moved != c.moved || o.named != c.named {
			t.Errorf("%s: from %q, moved %t, named %t", c.name, o.from, o.moved, o.named)
		}
	}
	if all.counts[api.Completed] != 1 || all.counts[api.AwaitingConfirmation] != 0 || all.reads.Behind != 1 || all.reads.StateChanges != 3 {
		t.Errorf("counted as %v, reads as %+v", all.counts, all.reads)
	}
}

func TestAnEventMovesAnIntentOnlyForwardAndAsksForARead(t *testing.T) {
	all := someIntents(StoreConfig{})
	var noticed []signal
	all.news.observer = func(n []signal) { noticed = append(noticed, n...) }
	tell := func(kind api.EventType, at time.Time) *IntentDetail {
		in := all.edit("ci_1")
		all.event(in, &Event{ID: api.ID(kind), Type: kind, CreatedAt: at}, true, at)
		all.news.publish()()
		return in
	}
	if in := tell(api.IntentCompleted, noon); in.State != api.Completed || in.Certainty != Reported || len(noticed) != 1 || !noticed[0].hint || !noticed[0].fresh {
		t.Errorf("%+v, noticed as %+v", in.Intent, noticed)
	}
	if in := tell(api.OfferRetrieved, noon.Add(time.Minute)); in.State != api.Completed || len(in.Timeline) != 2 || !in.Timeline[1].Already() {
		t.Errorf("an event that lies behind: %+v with %+v", in.Intent, in.Timeline)
	}
}

func TestAnIntentThatIsFoundAgainHasNotEnded(t *testing.T) {
	all := someIntents(StoreConfig{})
	all.notFound("ci_1", noon, noon)
	if len(all.ended) != 1 {
		t.Errorf("%d have ended, want the one that is not found", len(all.ended))
	}
	all.read(&api.Intent{ID: "ci_1", State: api.AwaitingConfirmation}, noon.Add(time.Second), noon, ByRead)
	if len(all.ended) != 0 || len(all.open()) != 1 {
		t.Errorf("%d have ended, %d are open", len(all.ended), len(all.open()))
	}
}

func TestACapOfIntentsMayBePassedByASixteenth(t *testing.T) {
	all := someIntents(StoreConfig{KeepIntents: 32})
	for n := range 34 {
		all.read(&api.Intent{ID: benchID(n), State: api.Completed, CreatedAt: noon}, noon.Add(time.Duration(n)*time.Minute), noon, ByRead)
	}
	if gone := all.dropSurplus(); gone != nil {
		t.Errorf("%d were let go of 34", len(gone))
	}
	all.read(&api.Intent{ID: benchID(34), State: api.Completed, CreatedAt: noon}, noon.Add(time.Hour), noon, ByRead)
	gone := all.dropSurplus()
	if len(gone) != 3 || gone[0].ID != benchID(0) || gone[2].ID != benchID(2) || all.letGo != 3 || !all.past.has(benchID(1)) {
		t.Errorf("let go of %d", len(gone))
	}
}

func TestIntentsAreUnreadUntilAReadShowsThem(t *testing.T) {
	all := someIntents(StoreConfig{KeepIntents: 16})
	tell := func(want int, when string) {
		t.Helper()
		if all.unread != want {
			t.Errorf("%s: %d are unread, want %d", when, all.unread, want)
		}
	}
	all.event(all.edit("ci_1"), &Event{ID: "evt_1", Type: api.IntentCompleted, CreatedAt: noon}, true, noon)
	all.edit("ci_2")
	tell(2, "known from an event and by its id")
	for range 2 {
		all.read(&api.Intent{ID: "ci_1", State: api.Completed, CreatedAt: noon}, noon, noon, ByRead)
		tell(1, "read")
	}
	all.restore(&IntentDetail{Intent: Intent{ID: "ci_3", State: api.Completed}}, intentMemory{}, noon)
	tell(2, "known to an earlier run from an event")
	all.restore(&IntentDetail{Intent: Intent{ID: "ci_4", State: api.Completed, ReadAt: noon}}, intentMemory{}, noon)
	tell(2, "read by an earlier run")
	all.letGoOf(all.get("ci_3"))
	all.letGoOf(all.get("ci_4"))
	tell(1, "let go")
}
