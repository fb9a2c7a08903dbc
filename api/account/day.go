package account

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// DayCount is how many of the day's intents are used: as many as the service reported, otherwise at least as many
// as are known.
type DayCount struct {
	Seen      int           `json:"seen"`                 // known to be created in the last 24 hours; there may be more
	Today     int           `json:"today,omitempty"`      // known to be created since midnight UTC; there may be more
	Calendar  bool          `json:"calendar,omitempty"`   // the limit is per UTC day: the last 24 hours saw more intents than it allows
	Limit     int           `json:"limit,omitempty"`      // 0 while unknown
	Assumed   bool          `json:"assumed,omitempty"`    // Limit is the configured one: the service has not named it
	Told      bool          `json:"told,omitempty"`       // the service reported how many are left, for a window that still lasts
	Left      int           `json:"left,omitempty"`       // when Told: how many were left at At; else 0
	At        time.Time     `json:"at,omitzero"`          // when Told: when the service reported it; else zero
	Resets    time.Time     `json:"resets,omitzero"`      // when Told: the end of the window, at the latest; else zero
	Spent     time.Time     `json:"spent,omitzero"`       // since when none is left; zero while some may be left
	Free      time.Time     `json:"free,omitzero"`        // when Spent: when the first is back, at the latest; else zero
	Exhausted time.Duration `json:"exhaustedNs,omitzero"` // forecast: time until none is left at Pace; 1 ns if none is left now, 0 if it will not happen within the window
	Pace      float64       `json:"pace,omitempty"`       // intents created an hour, by the last 15 minutes; 0 for none
	Later     int           `json:"later,omitempty"`      // when Told: how many were created after At, as far as known; else 0
}

// Used returns how many of the day's intents are used, at least.
func (d DayCount) Used() int {
	switch {
	case d.Told && d.Limit > 0:
		return d.Limit - d.Left + d.Later
	case d.Calendar:
		return d.Today
	}
	return d.Seen
}

// day is what is known of the day's intents besides what headers report.
type day struct {
	dayCounter
	limit   int // the configured limit, assumed until the service names one
	most    dayMost
	refused dayRefusal
	spent   time.Time // since when none is left; zero while some may be left
}

func newDay(limit int) *day {
	return &day{dayCounter: newDayCounter(), limit: limit}
}

// dayMost is the most intents seen within 24 hours and within a UTC day. An assumed limit below that is wrong.
type dayMost struct{ Seen, InOne int }

func (m dayMost) with(d *DayCount) dayMost {
	return dayMost{max(m.Seen, d.Seen), max(m.InOne, d.Today, d.Seen-d.Today)}
}

// dayRefusal is the newest 429 that said that the day's intents are used up.
type dayRefusal struct {
	At     time.Time
	Limit  int       // the limit that it named; 0 for none
	Resets time.Time // a day later if it did not say when
}

// Answers to mutations carry the day's bucket. The contract shows neither its name nor whether it spans the last
// 24 hours or a calendar day.
const (
	shortestDay = 12 * time.Hour
	wholeDay    = 24 * time.Hour
)

// refuse learns the day's limit and reset from a refusal.
func (k *day) refuse(e *api.Exchange, now time.Time) {
	var refusal *api.Error
	if e.Class != quota.Mutations || !errors.Is(e.Err, api.ErrDailyLimit) || !errors.As(e.Err, &refusal) {
		return
	}
	k.refused = dayRefusal{now, refusal.NamedLimit(), now.Add(cmp.Or(refusal.Wait(), wholeDay))}
}

func (k *day) of(buckets []quota.Bucket, now time.Time) DayCount {
	d := DayCount{Seen: k.count(now), Today: k.from(midnight(now))}
	b, refused := firstBucket(buckets, ofDay), &k.refused
	k.limitOf(&d, b, now)
	if b != nil && !b.Unreported {
		k.takeReport(&d, int(b.Remaining), b.ObservedAt, b.ObservedAt.Add(b.Reset), now)
	}
	if refused.At.After(d.At) {
		k.takeReport(&d, 0, refused.At, refused.Resets, now)
	}
	k.judgeSpent(&d, now)
	d.Pace = float64(k.after(now.Add(-recentPace))) * float64(time.Hour/recentPace)
	d.Exhausted = k.forecast(d, now)
	return d
}

func midnight(now time.Time) time.Time { return now.UTC().Truncate(wholeDay) }

// limitOf takes the limit that the service named last, else the assumed one. A limit exceeded within the last 24
// hours must be per calendar day; one exceeded within a calendar day is wrong.
func (k *day) limitOf(d *DayCount, named *quota.Bucket, now time.Time) {
	refused := &k.refused
	most := k.most.with(d)
	holds := func(limit int, at time.Time) bool {
		if from := midnight(now); at.Before(from) {
			at = from
		}
		return k.after(at) <= limit
	}
	switch {
	case named != nil && holds(int(named.Limit), named.ObservedAt):
		d.Limit, d.Calendar = int(named.Limit), d.Seen > int(named.Limit)
	case refused.Limit > 0 && holds(refused.Limit, refused.At):
		d.Limit, d.Calendar = refused.Limit, d.Seen > refused.Limit
	case most.InOne <= k.limit:
		d.Limit, d.Assumed, d.Calendar = k.limit, true, most.Seen > k.limit
	}
}

// takeReport takes over how many the service reported left, while its window lasts and no more have been created since.
func (k *day) takeReport(d *DayCount, left int, at, resets, now time.Time) {
	if made := k.after(at); now.Before(resets) && made <= left {
		d.Told, d.Left, d.Later, d.At, d.Resets = true, left, made, at, resets
	}
}

// ofDay reports whether a bucket limits the day's intents.
func ofDay(b *quota.Bucket) bool {
	return b.Class == quota.Mutations && b.Window >= shortestDay && b.Limit > 0
}

// judgeSpent decides since when none is left and when the first is back: when the service says so, else when the
// calendar day ends or a day after the oldest was created.
func (k *day) judgeSpent(d *DayCount, now time.Time) {
	switch {
	case d.Told && d.Left <= d.Later:
		d.Spent, d.Free = d.At, d.Resets
	case !d.Told && d.Limit > 0 && d.Used() >= d.Limit:
		oldest, newest := k.ends()
		d.Spent, d.Free = newest, oldest.Add(wholeDay+time.Minute)
		if d.Calendar {
			d.Free = midnight(now).Add(wholeDay)
		}
	default:
		return
	}
	if !k.spent.IsZero() {
		d.Spent = k.spent // a repeated report does not begin it anew
	}
}

// remember keeps what this count has shown of the day.
func (k *day) remember(d DayCount) { k.most, k.spent = k.most.with(&d), d.Spent }

// spentWords returns the alert's text, short enough to be followed by two times in 80 columns.
func (d DayCount) spentWords() string {
	limit := "day limit"
	if d.rolls() {
		limit = "24h limit"
	}
	if d.Limit > 0 {
		limit += " of " + api.Grouped(strconv.Itoa(d.Limit))
	}
	if d.Assumed {
		limit += " (assumed)"
	}
	return limit + " reached: first slot back"
}

// rolls reports whether the count depends on the day being the last 24 hours, not a calendar day.
func (d DayCount) rolls() bool { return d.Limit > 0 && !d.Told && !d.Calendar && d.Today < d.Seen }

// Doubt returns the reservation to print behind the number used; "" for none.
func (d DayCount) Doubt() string {
	switch {
	case d.Assumed && d.rolls():
		return ", if day_limit is right and of 24 hours"
	case d.Assumed:
		return ", if day_limit is right"
	case d.rolls():
		return ", if a day is the last 24 hours"
	}
	return ""
}

// forecast returns the time until the day's intents are used up; 0 if the window ends first.
func (k *day) forecast(d DayCount, now time.Time) time.Duration {
	if !d.Spent.IsZero() {
		return 1
	}
	left := d.Limit - d.Used()
	if left <= 0 || d.Pace == 0 {
		return 0
	}
	forecast := time.Duration(float64(left) / d.Pace * float64(time.Hour))
	ends := now.Add(wholeDay)
	if d.Told {
		ends = d.Resets
	}
	if !now.Add(forecast).Before(ends) {
		return 0
	}
	return forecast
}

// dayCounter counts moments of the last 24 hours by the minute; it may count too few, never too many.
type dayCounter struct {
	minutes map[minute]int
	cut     minute // nothing up to here counts any more
	total   int
}

func newDayCounter() dayCounter { return dayCounter{minutes: map[minute]int{}} }

// minute is a time in minutes since 1970.
type minute int64

func minuteOf(t time.Time) minute { return minute(t.Unix() / 60) }

func (d *dayCounter) add(t time.Time)    { d.change(minuteOf(t), 1) }
func (d *dayCounter) remove(t time.Time) { d.change(minuteOf(t), -1) }

func (d *dayCounter) change(m minute, by int) {
	if m > d.cut {
		d.minutes[m] += by
		d.total += by
	}
}

// count drops what is older than a day and counts the rest.
func (d *dayCounter) count(now time.Time) int {
	if cut := minuteOf(now.Add(-24 * time.Hour)); cut > d.cut {
		for m, n := range d.minutes {
			if m <= cut {
				d.total -= n
				delete(d.minutes, m)
			}
		}
		d.cut = cut
	}
	return d.total
}

// from counts the moments in minutes that began at t or later.
func (d *dayCounter) from(t time.Time) int { return d.after(t.Add(-time.Minute)) }

// after counts the moments in minutes that began after t.
func (d *dayCounter) after(t time.Time) int {
	from, total := minuteOf(t), 0
	for m, n := range d.minutes {
		if m > from {
			total += n
		}
	}
	return total
}

// ends returns the oldest and the newest counted minute; zero if nothing is counted.
func (d *dayCounter) ends() (oldest, newest time.Time) {
	for m, n := range d.minutes {
		at := time.Unix(int64(m)*60, 0).UTC()
		if n > 0 && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
		if n > 0 && at.After(newest) {
			newest = at
		}
	}
	return oldest, newest
}
