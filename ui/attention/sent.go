package attention

import (
	"context"
	"slices"
	"time"
)

// sent records an alert that was sent to one destination.
type sent struct {
	Key
	Destination string    `json:"way"` // fingerprint of the destination
	At          time.Time `json:"at"`
	Over        bool      `json:"over,omitempty"` // the alert is over: another with the same key is new
}

const (
	mostSent = 2000
	// sentFor is how long a sent alert suppresses the same one if nobody saw its end.
	sentFor = 24 * time.Hour
	// calmFor is how long an alert that comes and goes is not sent again.
	calmFor = time.Minute
)

// claim reports whether an alert must still be sent to a destination, and records
// that it is: the process that claims an alert sends it. For a muted alert, later says
// when to ask again.
func (f *File) claim(ctx context.Context, n Notice, destination string, now time.Time) (granted bool, later time.Time, err error) {
	err = f.change(ctx, func(c *content) {
		if off, ok := c.OffOf(n.alert, now); ok && !off.Until.IsZero() {
			later = off.Until
			return
		}
		key := KeyOf(n.alert)
		at := slices.IndexFunc(c.Sent, func(s sent) bool { return s.Key == key && s.Destination == destination })
		if at >= 0 {
			before := c.Sent[at]
			if age := now.Sub(before.At).Abs(); age < calmFor || !before.Over && age < sentFor {
				return
			}
			c.Sent = slices.Delete(c.Sent, at, at+1)
		}
		granted = true
		c.Sent = append(c.Sent, sent{Key: key, Destination: destination, At: now})
		c.Sent = c.Sent[max(len(c.Sent)-mostSent, 0):]
	})
	return granted, later, err
}

// release undoes the claim of an alert that could not be sent.
func (f *File) release(ctx context.Context, n Notice, destination string) error {
	return f.change(ctx, func(c *content) {
		c.Sent = slices.DeleteFunc(c.Sent, func(s sent) bool { return s.Key == KeyOf(n.alert) && s.Destination == destination })
	})
}

// end records which sent alerts are over.
func (f *File) end(ctx context.Context, stands map[Key]bool) error {
	over := func(s sent) bool { return !s.Over && !stands[s.Key] }
	c, err := f.read()
	if err != nil || !slices.ContainsFunc(c.Sent, over) {
		return err
	}
	return f.change(ctx, func(c *content) {
		for i, s := range c.Sent {
			c.Sent[i].Over = s.Over || over(s)
		}
	})
}
