package account

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestAPulseCountsWhatHappenedWhen(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 4, 12, 30, 20, 0, berlin)
	usd := func(cents int64) *api.Money { return &api.Money{Currency: "USD", Subunits: cents} }
	expiry := &api.FailureReason{Code: api.Expired}
	sold := func(ended time.Time, total *api.Money) *Intent {
		return &Intent{State: api.Completed, CreatedAt: ended.Add(-time.Minute), OfferedAt: ended.Add(-50 * time.Second), ConfirmedAt: ended.Add(-20 * time.Second), EndedAt: ended, Total: total}
	}
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	p := PulseOf(slices.Values([]*Intent{
		sold(ago(10*time.Second), usd(1000)),
		sold(ago(30*time.Minute), usd(500)),
		sold(ago(5*time.Hour), &api.Money{Currency: "EUR", Subunits: 700}),
		sold(ago(6*time.Hour), nil),
		sold(ago(13*time.Hour), usd(9000)), // yesterday, where now is
		sold(ago(40*time.Hour), usd(1)),    // before anybody watched
		{State: api.Completed},             // nobody saw when
		{State: api.Failed, EndedAt: ago(2 * time.Minute)},
		{State: api.Failed, EndedAt: ago(time.Hour), Failure: expiry},
		{State: api.AwaitingConfirmation, Total: usd(250), ExpiresAt: now.Add(time.Minute), OfferedAt: now.Add(30 * time.Second)}, // by a clock that is ahead
		{State: api.AwaitingConfirmation, ExpiresAt: now.Add(time.Minute)},
		{State: api.AwaitingConfirmation, Total: usd(99), ExpiresAt: now},
		{State: api.AwaitingConfirmation, Total: usd(99), Missing: true},
	}), &Summary{Known: ago(20 * time.Hour)}, now)

	if got, want := p.Hour[59], (Beat{At: now.UTC().Truncate(time.Minute), Known: true, Offered: 1, Completed: 1}); got != want {
		t.Errorf("the minute that lasts is %+v, want %+v", got, want)
	}
	if got, want := p.Hour[58], (Beat{At: now.UTC().Truncate(time.Minute).Add(-time.Minute), Known: true, Created: 1, Offered: 1, Confirmed: 1}); got.Created != want.Created || got.Completed != 0 {
		t.Errorf("the minute before is %+v, want %+v", got, want)
	}
	var hour, day Beat
	for _, b := range p.Hour {
		hour.Completed, hour.Failed, hour.Expired = hour.Completed+b.Completed, hour.Failed+b.Failed, hour.Expired+b.Expired
	}
	for _, b := range p.Day {
		day.Completed, day.Failed, day.Expired = day.Completed+b.Completed, day.Failed+b.Failed, day.Expired+b.Expired
	}
	if hour != (Beat{Completed: 2, Failed: 1}) || day != (Beat{Completed: 5, Failed: 1, Expired: 1}) {
		t.Errorf("the hour has %+v, the day %+v", hour, day)
	}
	if p.Day[0].Known || !p.Day[95].Known || p.Day[95].At.Minute() != 30 {
		t.Errorf("the quarters begin with %+v and end with %+v: it is watched for 20 hours", p.Day[0], p.Day[95])
	}
	if !slices.Equal(p.Awaiting, []api.Money{*usd(250)}) || p.Unpriced != 1 {
		t.Errorf("%v await a decision and %d more, want 2.50 USD and one", p.Awaiting, p.Unpriced)
	}
	today := p.Today
	if today.Created != 4 || today.Completed != 4 || today.Failed != 1 || today.Expired != 1 || today.Unpriced != 1 || !slices.Equal(today.Value, []api.Money{{Currency: "EUR", Subunits: 700}, *usd(1500)}) {
		t.Errorf("today is %+v", today)
	}
	if share, ok := today.CompletionRate(); !ok || share != 4./6 {
		t.Errorf("the completion rate is %v, want four of six", share)
	}
	if today.Offer != (Pace{4, 10 * time.Second, 10 * time.Second}) || today.Order != (Pace{4, 20 * time.Second, 20 * time.Second}) {
		t.Errorf("offers take %+v, orders %+v", today.Offer, today.Order)
	}
	if p.ByNow.Known() {
		t.Errorf("yesterday by now is %+v: nobody watched", p.ByNow)
	}
	if rate, exact, ok := p.Rate(api.Completed); !ok || !exact || rate < 2./60 || rate > 2./58 {
		t.Errorf("%v are completed a minute, want two in the hour", rate)
	}
}

func TestARateIsNotZeroWhereNobodySawWhen(t *testing.T) {
	ago := func(minutes int) time.Time { return noon.Add(time.Duration(-minutes) * time.Minute) }
	offered := &Intent{State: api.AwaitingConfirmation, CreatedAt: ago(9), OfferedAt: ago(8), Since: ago(8)}
	found := &Intent{State: api.AwaitingConfirmation, CreatedAt: ago(9), Since: ago(5)}
	for _, c := range []struct {
		name      string
		in        []*Intent
		state     api.IntentState
		exact, ok bool
	}{
		{"nothing happened", nil, api.AwaitingConfirmation, true, true},
		{"an offer that an event reported", []*Intent{offered}, api.AwaitingConfirmation, true, true},
		{"an offer that a read found", []*Intent{found}, api.AwaitingConfirmation, false, false},
		{"one of each", []*Intent{offered, found}, api.AwaitingConfirmation, false, true},
		{"another state", []*Intent{found}, api.Completed, true, true},
		{"an offer that a read found long ago", []*Intent{{State: api.AwaitingConfirmation, CreatedAt: ago(90), Since: ago(80)}}, api.AwaitingConfirmation, true, true},
		{"a confirm that a read found", []*Intent{{State: api.PlacingOrder, CreatedAt: ago(9), OfferedAt: ago(8), Since: ago(5)}}, api.PlacingOrder, false, false},
		{"an offer that an order proves", []*Intent{{State: api.Completed, CreatedAt: ago(9), EndedAt: ago(5), Since: ago(5)}}, api.AwaitingConfirmation, false, false},
		{"a confirm that an order proves", []*Intent{{State: api.Completed, CreatedAt: ago(9), OfferedAt: ago(8), Since: ago(5), FoundEnded: true}}, api.PlacingOrder, false, false},
		{"an end that a read found", []*Intent{{State: api.Failed, CreatedAt: ago(9), Since: ago(5), FoundEnded: true}}, api.Failed, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := PulseOf(slices.Values(c.in), &Summary{Known: ago(600)}, noon)
			if rate, exact, ok := p.Rate(c.state); exact != c.exact || ok != c.ok || rate > 0 != slices.Contains(c.in, offered) {
				t.Errorf("the rate is %v, exact: %t, known: %t", rate, exact, ok)
			}
		})
	}
}

func TestASumThatNoAmountHoldsIsNotMadeUp(t *testing.T) {
	var p Purse
	for _, subunits := range []int64{1 << 62, 1 << 62, 5, -3} {
		p.Add(&api.Money{Currency: "USD", Subunits: subunits})
	}
	if got := p.Sorted(); len(got) != 1 || got[0].Subunits != 1<<62+2 || p.Unpriced != 1 {
		t.Errorf("the sum is %v and %d more", got, p.Unpriced)
	}
}

func TestAStateThatWasFoundMayBeOlderThanItIsKnown(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	read := func(state api.IntentState, second int) func(*Store) {
		return func(s *Store) { s.ApplyRead(api.Intent{ID: "ci_1", State: state, CreatedAt: noon}, at(second), ByRead) }
	}
	offered := func(s *Store) {
		s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OfferRetrieved, at(9))}, at(1300))
	}
	for _, c := range []struct {
		name  string
		steps []func(*Store)
		found bool
	}{
		{"first seen retrieving, long after", []func(*Store){read(api.RetrievingOffer, 1200)}, false},
		{"first seen awaiting, at once", []func(*Store){read(api.AwaitingConfirmation, 12)}, false},
		{"first seen awaiting, long after", []func(*Store){read(api.AwaitingConfirmation, 1200)}, true},
		{"seen again", []func(*Store){read(api.AwaitingConfirmation, 1200), read(api.AwaitingConfirmation, 1201)}, true},
		{"then the event that tells when", []func(*Store){read(api.AwaitingConfirmation, 1200), offered}, false},
		{"then seen to move on", []func(*Store){read(api.AwaitingConfirmation, 1200), read(api.PlacingOrder, 1210)}, false},
		{"found moved on, and the event of its offer", []func(*Store){read(api.PlacingOrder, 1200), offered}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			for _, step := range c.steps {
				step(s)
			}
			if in, _ := s.Intent("ci_1"); in.Found != c.found {
				t.Errorf("found %t, in its state since %v", in.Found, in.Since)
			}
		})
	}
}

// TestMomentsAreThoseThatSomebodySaw: what was first seen in a state has entered it
// nobody knows when.
func TestMomentsAreThoseThatSomebodySaw(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	read := func(state api.IntentState, second int, how Learnt) func(*Store) {
		return func(s *Store) { s.ApplyRead(api.Intent{ID: "ci_1", State: state, CreatedAt: noon}, at(second), how) }
	}
	event := func(seq int, kind api.EventType, second int) func(*Store) {
		return func(s *Store) { s.ApplyEvents([]Delivery{intentEvent(seq, "ci_1", kind, at(second))}, at(second)) }
	}
	cases := []struct {
		name  string
		steps []func(*Store)
		want  [3]int // seconds at which it was offered, confirmed and ended; 0 for not known
	}{
		{"events and a confirm here", []func(*Store){event(1, api.OfferRetrieved, 9), read(api.PlacingOrder, 20, ByConfirm), event(2, api.IntentCompleted, 40)}, [3]int{9, 20, 40}},
		{"reads that lie close", []func(*Store){read(api.RetrievingOffer, 1, ByRead), read(api.AwaitingConfirmation, 12, ByRead), read(api.AwaitingConfirmation, 46, ByRead), read(api.PlacingOrder, 50, ByRead), read(api.Completed, 60, ByRead)}, [3]int{12, 50, 60}},
		{"a confirm between reads that lie apart", []func(*Store){read(api.AwaitingConfirmation, 1, ByRead), read(api.PlacingOrder, 11, ByRead), read(api.Completed, 20, ByRead)}, [3]int{0, 0, 20}},
		{"a read, and then the event that tells when", []func(*Store){read(api.RetrievingOffer, 1, ByRead), read(api.AwaitingConfirmation, 12, ByRead), event(1, api.OfferRetrieved, 9)}, [3]int{9, 0, 0}},
		{"an event that comes after the end", []func(*Store){event(2, api.IntentCompleted, 40), event(1, api.OfferRetrieved, 9)}, [3]int{9, 0, 40}},
		{"first seen awaiting", []func(*Store){read(api.AwaitingConfirmation, 1200, ByRead)}, [3]int{}},
		{"first seen completed", []func(*Store){read(api.Completed, 1200, ByRead)}, [3]int{}},
		{"completed between two reads that lie far apart", []func(*Store){read(api.PlacingOrder, 20, ByRead), read(api.Completed, 1200, ByRead)}, [3]int{}},
		{"first seen failed, and the event of its offer", []func(*Store){event(1, api.OfferFailed, 15), read(api.Failed, 1200, ByRead)}, [3]int{0, 0, 15}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			for _, step := range c.steps {
				step(s)
			}
			in, _ := s.Intent("ci_1")
			for i, got := range []time.Time{in.OfferedAt, in.ConfirmedAt, in.EndedAt} {
				if want := c.want[i]; want == 0 && !got.IsZero() || want > 0 && !got.Equal(at(want)) {
					t.Errorf("moment %d is %v, want second %d", i, got, want)
				}
			}
		})
	}
	s := NewStore(StoreConfig{})
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.Failed, CreatedAt: noon, Failure: &api.FailureReason{Code: api.Expired}}, at(86400), ByRead)
	if in, _ := s.Intent("ci_1"); !in.EndedAt.Equal(noon.Add(api.ConfirmWindow)) {
		t.Errorf("it expired at %v, want the end of its window", in.EndedAt)
	}
}

func TestAnAccountIsWatchedSinceItsFirstEventOrStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		event := func(seq int, before time.Duration) []Delivery {
			return []Delivery{intentEvent(seq, api.ID(fmt.Sprint("ci_", seq)), api.IntentCompleted, start.Add(-before))}
		}
		s := NewStore(StoreConfig{KeepIntents: 16})
		if known := s.Summary().Known; !known.IsZero() {
			t.Errorf("known since %v: nobody watched", known)
		}
		s.ApplyEvents(event(1, 3*time.Hour), start)
		s.ApplyEvents(event(2, 50*time.Hour), start) // a delivery that was tried for two days
		if known := s.Summary().Known; !known.Equal(start.Add(-3 * time.Hour)) {
			t.Errorf("known since %v, want since the relay's first event", start.Sub(known))
		}
		time.Sleep(time.Hour)
		f := openSaved(t, t.TempDir())
		if err := f.Save(s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		restored := mustRestore(t, f)
		if known := restored.Summary().Known; !known.Equal(start.Add(-3 * time.Hour)) {
			t.Errorf("after a restart known since %v", start.Sub(known))
		}
		for seq := range 40 {
			s.ApplyEvents(event(3+seq, -time.Duration(seq)*time.Minute), time.Now())
		}
		sum := s.Summary()
		oldest := time.Now()
		for _, in := range s.Changes(0).Intents {
			oldest = earlier(oldest, in.EndedAt)
		}
		if sum.LetGo == 0 || sum.Known.After(oldest) || sum.Known.Before(oldest.Add(-time.Minute)) {
			t.Errorf("%d are let go, known since %v: want no earlier than the last of those ended, %v", sum.LetGo, sum.Known, oldest)
		}
	})
}

// TestAPulseSaysWhereMoreMayHaveEnded: an end that nobody saw counts where it happened for certain, and elsewhere it
// makes the counts mean at least.
func TestAPulseSaysWhereMoreMayHaveEnded(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	found := func(created, read time.Duration) *Intent {
		return &Intent{State: api.Completed, CreatedAt: ago(created), Since: ago(read), FoundEnded: true}
	}
	lapsed := func(ago time.Duration) *Intent {
		return &Intent{State: api.AwaitingConfirmation, CreatedAt: now.Add(-ago - api.ConfirmWindow), ExpiresAt: now.Add(-ago)}
	}
	missing := lapsed(time.Hour)
	missing.Missing = true
	type says struct {
		completed                    int
		today, yesterday, hour, date bool
	}
	for name, c := range map[string]struct {
		in   *Intent
		s    Summary
		want says
	}{
		"an end that somebody saw":               {in: &Intent{State: api.Completed, CreatedAt: ago(3 * time.Hour), EndedAt: ago(2 * time.Hour), Since: ago(2 * time.Hour)}, want: says{completed: 1}},
		"found ended, created today":             {in: found(3*time.Hour, 2*time.Hour), want: says{completed: 1, date: true}},
		"found ended now, created today":         {in: found(3*time.Hour, time.Minute), want: says{completed: 1, hour: true, date: true}},
		"found ended, created yesterday":         {in: found(15*time.Hour, 2*time.Hour), want: says{today: true, date: true}},
		"found ended yesterday":                  {in: found(30*time.Hour, 28*time.Hour), want: says{}},
		"its window has just closed":             {in: lapsed(time.Minute), want: says{}},
		"its window closed, and no read":         {in: lapsed(time.Hour), want: says{today: true, hour: true, date: true}},
		"it closes in an hour, by its clock":     {in: lapsed(time.Hour), s: Summary{Ahead: 2 * time.Hour}, want: says{}},
		"the same, and the service knows it not": {in: missing, want: says{}},
		"only its id is known":                   {in: &Intent{Since: ago(time.Hour)}, want: says{today: true, yesterday: true, hour: true, date: true}},
		"only its id is known, for a moment":     {in: &Intent{Since: ago(time.Second)}, want: says{}},
		"events were lost, but there is a list":  {in: &Intent{}, s: Summary{Gaps: 1}, want: says{}},
		"events were lost, and nothing lists":    {in: &Intent{}, s: Summary{Gaps: 1, List: ListStatus{State: ListNotServed}}, want: says{today: true, hour: true, date: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.Known = ago(40 * 24 * time.Hour)
			p := PulseOf(slices.Values([]*Intent{c.in}), &c.s, now)
			if got := (says{p.Today.Completed, p.Today.More, p.ByNow.More, p.HourMore, p.DayMore}); got != c.want {
				t.Errorf("it says %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnAccountThatNothingTellsOfIsNotWatched(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*Store)
		watched bool
	}{
		{"a service that does not answer", func(s *Store) { s.RecordExchange(api.Exchange{Err: errors.New("connection refused")}) }, false},
		{"a key that is refused", func(s *Store) { s.RecordExchange(api.Exchange{Status: 401, Err: api.ErrUnauthorized}) }, false},
		{"a relay that is lost", func(s *Store) { s.SetFeed(FeedStatus{State: FeedLost}) }, false},
		{"a relay that is live", func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive}) }, true},
		{"a list of nothing", func(s *Store) { s.ApplyList(nil, time.Now()) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			c.happens(s)
			if known := s.Changes(0).Summary.Known; known.IsZero() == c.watched {
				t.Errorf("it is watched since %v", known)
			}
		})
	}
}
