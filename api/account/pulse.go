package account

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"tillwatch/api"
)

// Pulse is how the account is doing: what became of its intents by the minute, by 15 minutes and by the day. It is
// immutable.
type Pulse struct {
	At       time.Time   `json:"at"`
	Known    time.Time   `json:"known,omitzero"`          // since when the account has been watched; what happened before is unknown, not zero. Zero: nothing is known
	Hour     []Beat      `json:"hour,omitempty"`          // the last 60 minutes, the oldest first; the last one is still running
	Day      []Beat      `json:"day,omitempty"`           // likewise the last 96 periods of 15 minutes
	HourMore bool        `json:"hourMore,omitempty"`      // more may have ended in the last 60 minutes than Hour counts: nobody saw when, or events were lost
	DayMore  bool        `json:"dayMore,omitempty"`       // likewise in the last 24 hours
	Unseen   Beat        `json:"-"`                       // what happened to intents at moments that nobody saw and that may be in the last 60 minutes
	Waiting  int         `json:"waiting,omitempty"`       // intents that await a decision
	Awaiting []api.Money `json:"awaiting,omitempty"`      // their known totals, by currency
	Unpriced int         `json:"unpriced,omitempty"`      // how many of them have no known total
	Today    DayPulse    `json:"today,omitzero"`          // since midnight, in At's location
	ByNow    DayPulse    `json:"yesterdayByNow,omitzero"` // yesterday until the same time of day
}

// Beat is what happened in one minute or in 15 minutes.
type Beat struct {
	At        time.Time `json:"at"`        // its start
	Known     bool      `json:"known"`     // the account was watched then: a 0 means that nothing happened
	Created   int       `json:"created"`   // intents that were created
	Offered   int       `json:"offered"`   // intents that got their offer
	Confirmed int       `json:"confirmed"` // intents that were confirmed, or completed without anyone seeing the confirm
	Completed int       `json:"completed"`
	Failed    int       `json:"failed"` // without those that expired
	Expired   int       `json:"expired"`
}

// DayPulse is what became of intents in a day, or another stretch of time.
type DayPulse struct {
	From      time.Time   `json:"from"` // what is known: after the day's start if the account was not watched then
	To        time.Time   `json:"to"`   // From if nothing is known
	Created   int         `json:"created"`
	Completed int         `json:"completed"`
	Failed    int         `json:"failed"` // without those that expired
	Expired   int         `json:"expired"`
	Value     []api.Money `json:"value,omitempty"`    // known totals of the completed ones, by currency
	Unpriced  int         `json:"unpriced,omitempty"` // completed ones without a known total
	More      bool        `json:"more,omitempty"`     // more may have ended: nobody saw when, or events were lost
	Offer     Pace        `json:"offer,omitzero"`     // from creation to offer
	Order     Pace        `json:"order,omitzero"`     // from confirm to completion
}

// Known reports whether anything is known of the day; if not, its counts mean nothing.
func (d *DayPulse) Known() bool { return d.From.Before(d.To) }

// IsZero reports whether nothing is known of the day, so that JSON leaves it out.
func (d DayPulse) IsZero() bool { return !d.Known() }

// Shared returns the pulse as it leaves the process, with times in UTC.
func (p Pulse) Shared() Pulse {
	p.At, p.Known = p.At.UTC(), p.Known.UTC()
	for _, d := range []*DayPulse{&p.Today, &p.ByNow} {
		d.From, d.To = d.From.UTC(), d.To.UTC()
	}
	return p
}

// Ended counts the intents that ended.
func (d *DayPulse) Ended() int { return d.Completed + d.Failed + d.Expired }

// CompletionRate is the share of the ended intents that completed. It reports false if none ended.
func (d *DayPulse) CompletionRate() (share float64, ok bool) {
	if d.Ended() == 0 {
		return 0, false
	}
	return float64(d.Completed) / float64(d.Ended()), true
}

// Arrivals counts the intents that entered a state.
func (b *Beat) Arrivals(state api.IntentState) int {
	switch state {
	case api.RetrievingOffer:
		return b.Created
	case api.AwaitingConfirmation:
		return b.Offered
	case api.PlacingOrder:
		return b.Confirmed
	case api.Completed:
		return b.Completed
	case api.Failed:
		return b.Failed + b.Expired
	}
	return 0
}

// Rate is how many intents a minute entered a state in the last hour, or since the account has been watched; there may be
// more if it is not exact. It reports false if nothing is known.
func (p *Pulse) Rate(state api.IntentState) (perMinute float64, exact, ok bool) {
	arrived := 0
	for i := range p.Hour {
		if p.Hour[i].Known {
			arrived += p.Hour[i].Arrivals(state)
		}
	}
	watched := p.At.Sub(later(p.Hour[0].At, p.Known))
	unseen := p.Unseen.Arrivals(state)
	if p.Known.IsZero() || watched <= 0 || arrived == 0 && unseen > 0 {
		return 0, false, false
	}
	return float64(arrived) / max(watched.Minutes(), 1), unseen == 0, true
}

// How a pulse divides time.
const (
	beatsOfHour = 60
	beatsOfDay  = 96
	quarterHour = 15 * time.Minute
)

// unseenFor is how long an intent may have ended without a read that shows it, until its end counts as unseen: reads
// take a moment.
const unseenFor = 2 * time.Minute

// PulseOf returns the pulse of intents at now, whose location says when a day begins. The summary, of the same
// picture, says since when the account has been watched, and whether intents may be unknown.
func PulseOf(intents iter.Seq[*Intent], s *Summary, now time.Time) Pulse {
	known := s.Known
	p := Pulse{At: now, Known: known, Hour: beats(beatsOfHour, time.Minute, known, now), Day: beats(beatsOfDay, quarterHour, known, now)}
	var awaiting Purse
	service := now.Add(-s.Ahead)
	days := []*dayBook{
		newDayBook(Midnight(now, 0), now.Add(time.Nanosecond), known),
		newDayBook(Midnight(now, -1), now.AddDate(0, 0, -1), known),
	}
	if s.Gaps > 0 && s.List.State == ListNotServed { // no read finds what the lost events reported
		days[0].More, p.HourMore, p.DayMore = true, true, true
	}
	for in := range intents {
		newest := later(later(in.CreatedAt, in.OfferedAt), later(in.ConfirmedAt, in.EndedAt))
		unseen := in.unseenEnd(now, service)
		for _, d := range days {
			if !newest.Before(d.From) {
				d.add(in)
			}
			if !unseen.IsZero() {
				d.addUnseen(in, newest, unseen)
			}
		}
		p.HourMore, p.DayMore = p.HourMore || unseen.After(p.Hour[0].At), p.DayMore || unseen.After(p.Day[0].At)
		if !newest.Before(p.Day[0].At) {
			count(p.Hour, time.Minute, in)
			count(p.Day, quarterHour, in)
		}
		if in.State == api.AwaitingConfirmation && !in.Missing && (in.ExpiresAt.IsZero() || in.ExpiresAt.After(service)) {
			p.Waiting++
			awaiting.Add(in.Total)
		}
		if !in.Since.Before(p.Hour[0].At) {
			p.Unseen.addUnseen(in)
		}
	}
	p.Awaiting, p.Unpriced = awaiting.Sorted(), awaiting.Unpriced
	p.Today, p.ByNow = days[0].pulse(), days[1].pulse()
	return p
}

// beats returns n empty beats up to now.
func beats(n int, width time.Duration, known, now time.Time) []Beat {
	all := make([]Beat, n)
	at := now.UTC().Truncate(width).Add(-time.Duration(n-1) * width)
	for i := range all {
		all[i] = Beat{At: at, Known: !known.IsZero() && at.Add(width).After(known)}
		at = at.Add(width)
	}
	return all
}

// count adds what happened to an intent to the beats in which it happened.
func count(all []Beat, width time.Duration, in *Intent) {
	var elsewhere Beat // takes what happened before the first beat
	at := func(moment time.Time) *Beat {
		since := moment.Sub(all[0].At)
		if moment.IsZero() || since < 0 || since >= time.Duration(len(all)+1)*width {
			return &elsewhere
		}
		return &all[min(int(since/width), len(all)-1)] // the service's clock may be ahead
	}
	at(in.CreatedAt).Created++
	at(in.OfferedAt).Offered++
	ended, confirmed := at(in.EndedAt), at(in.ConfirmedAt)
	if in.ConfirmedAt.IsZero() && in.State == api.Completed {
		confirmed = ended
	}
	confirmed.Confirmed++
	switch {
	case in.State == api.Completed:
		ended.Completed++
	case in.expired():
		ended.Expired++
	case in.State == api.Failed:
		ended.Failed++
	}
}

// addUnseen counts the states that an intent entered at moments that nobody saw. An order proves both an offer and a
// confirm.
func (b *Beat) addUnseen(in *Intent) {
	ordered := in.State == api.PlacingOrder || in.State == api.Completed
	if in.OfferedAt.IsZero() && (ordered || in.State == api.AwaitingConfirmation) {
		b.Offered++
	}
	if in.ConfirmedAt.IsZero() && in.EndedAt.IsZero() && ordered {
		b.Confirmed++
	}
	switch {
	case !in.FoundEnded || !in.EndedAt.IsZero():
	case in.State == api.Completed:
		b.Completed++
	default:
		b.Failed++
	}
}

func (i *Intent) expired() bool {
	return i.State == api.Failed && i.Failure != nil && i.Failure.Code == api.Expired
}

// unseenEnd is the latest moment at which an intent may have ended unseen; zero if its end was seen or it is open.
func (i *Intent) unseenEnd(now, service time.Time) time.Time {
	open, at := i.Since, now
	if i.State == api.AwaitingConfirmation {
		open, at = i.ExpiresAt, service
	}
	switch {
	case i.FoundEnded && i.EndedAt.IsZero():
		return i.Since
	case i.Missing || open.IsZero() || at.Sub(open) < unseenFor:
	case i.State == "" || i.State == api.AwaitingConfirmation:
		return now
	}
	return time.Time{}
}

// dayBook gathers a [DayPulse].
type dayBook struct {
	DayPulse
	value         Purse
	offer, orders []time.Duration
}

func newDayBook(from, to, known time.Time) *dayBook {
	if known.IsZero() {
		known = to
	}
	return &dayBook{DayPulse: DayPulse{From: earlier(later(from, known), to), To: to}}
}

// within reports whether a moment lies in the known part of the day.
func (d *dayBook) within(t time.Time) bool { return !t.Before(d.From) && t.Before(d.To) }

func (d *dayBook) add(in *Intent) {
	if d.within(in.CreatedAt) {
		d.Created++
	}
	if d.within(in.OfferedAt) && !in.CreatedAt.IsZero() {
		d.offer = append(d.offer, max(in.OfferedAt.Sub(in.CreatedAt), 0))
	}
	if !d.within(in.EndedAt) {
		return
	}
	d.addEnded(in)
	if in.State == api.Completed && !in.ConfirmedAt.IsZero() {
		d.orders = append(d.orders, max(in.EndedAt.Sub(in.ConfirmedAt), 0))
	}
}

// addUnseen adds an intent that ended, or may have ended, after one moment and until another. It counts the intent only
// if it certainly ended on this day.
func (d *dayBook) addUnseen(in *Intent, after, until time.Time) {
	switch {
	case !after.Before(d.To) || until.Before(d.From):
	case in.State.Terminal() && d.within(after) && d.within(until):
		d.addEnded(in)
	default:
		d.More = true
	}
}

func (d *dayBook) addEnded(in *Intent) {
	switch {
	case in.State == api.Completed:
		d.Completed++
		d.value.Add(in.Total)
	case in.expired():
		d.Expired++
	case in.State == api.Failed:
		d.Failed++
	}
}

func (d *dayBook) pulse() DayPulse {
	d.Value, d.Unpriced = d.value.Sorted(), d.value.Unpriced
	d.Offer, d.Order = paceOf(d.offer), paceOf(d.orders)
	return d.DayPulse
}

// Purse sums totals by currency. The zero Purse is empty.
type Purse struct {
	Amounts  []api.Money // one for each currency
	Unpriced int         // totals that are unknown, or too large to add
}

// Add adds a total; nil is an unknown one.
func (p *Purse) Add(total *api.Money) {
	if total == nil {
		p.Unpriced++
		return
	}
	i := slices.IndexFunc(p.Amounts, func(m api.Money) bool { return m.Currency == total.Currency })
	if i < 0 {
		p.Amounts = append(p.Amounts, *total)
		return
	}
	sum := p.Amounts[i].Subunits + total.Subunits
	if (sum > p.Amounts[i].Subunits) != (total.Subunits > 0) {
		p.Unpriced++
		return
	}
	p.Amounts[i].Subunits = sum
}

// Sorted returns the sums, ordered by currency.
func (p *Purse) Sorted() []api.Money {
	slices.SortFunc(p.Amounts, func(a, b api.Money) int { return cmp.Compare(a.Currency, b.Currency) })
	return p.Amounts
}
