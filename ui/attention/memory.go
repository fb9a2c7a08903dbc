// Package attention knows what a person has seen of an account and has put off, and
// tells of alerts outside the screen: by a webhook or by a program.
package attention

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Memory is what is remembered of a person's attention between runs. The zero Memory
// has seen nothing.
type Memory struct {
	Looked time.Time `json:"looked,omitzero"` // when somebody last looked; zero: never
	Off    []Off     `json:"off,omitempty"`   // what is put off, the newest last
}

// Key is what an alert is known by, in another run too.
type Key struct {
	Kind   account.AlertKind `json:"kind"`
	Intent api.ID            `json:"intent,omitempty"`
	Cause  string            `json:"cause,omitempty"`
}

// KeyOf is the key of an alert.
func KeyOf(a account.Alert) Key { return Key{a.Kind, a.Intent, a.Cause} }

// Off is an alert that a person has put off: acknowledged until it is over or gets
// worse, or muted for a time.
type Off struct {
	Key
	All      bool      `json:"all,omitempty"`      // every alert of the kind
	At       time.Time `json:"at"`                 // when that was
	Until    time.Time `json:"until,omitzero"`     // muted until then; zero: acknowledged
	Pressing bool      `json:"pressing,omitempty"` // it was pressing when it was acknowledged: it cannot get worse
}

// Soon is when there is just time left to look at an intent and to confirm it.
const Soon = 2 * time.Minute

// Pressing reports whether an alert has got worse since it was raised: what it warns
// of comes about soon.
func Pressing(a account.Alert, now time.Time) bool {
	return a.Cause != account.Spent && !a.Due.IsZero() && a.Due.Sub(now) <= Soon
}

func (o Off) covers(a account.Alert, now time.Time) bool {
	switch {
	case o.Kind != a.Kind, !o.All && o.Key != KeyOf(a):
		return false
	case o.Until.IsZero():
		return o.Pressing || !Pressing(a, now)
	}
	return now.Before(o.Until)
}

// OffOf tells how an alert is put off, if it is. What mutes comes before what
// acknowledges.
func (m *Memory) OffOf(a account.Alert, now time.Time) (off Off, is bool) {
	for _, o := range m.Off {
		if o.covers(a, now) && (!is || o.Until.After(off.Until)) {
			off, is = o, true
		}
	}
	return off, is
}

// mostOff bounds what is put off; the oldest is forgotten first.
const mostOff = 500

// Put puts an alert off, in place of what was put off of it before.
func (m *Memory) Put(o Off) {
	m.Take(o.Key, o.All)
	m.Off = append(m.Off, o)
	m.Off = m.Off[max(len(m.Off)-mostOff, 0):]
}

// Take takes back what was put off of an alert, or of a kind.
func (m *Memory) Take(key Key, all bool) {
	m.keep(func(o Off) bool { return o.Key != key || o.All != all })
}

// Forget drops the acknowledgements of alerts that are over, and what mutes no
// longer.
func (m *Memory) Forget(now time.Time, over func(Key) bool) {
	m.keep(func(o Off) bool { return o.Until.IsZero() && !over(o.Key) || now.Before(o.Until) })
}

// keep makes a list of its own: others may hold the one before.
func (m *Memory) keep(keeps func(Off) bool) {
	m.Off = slices.DeleteFunc(slices.Clone(m.Off), func(o Off) bool { return !keeps(o) })
}

// See notes that somebody looked at a time.
func (m *Memory) See(at time.Time) {
	if at.After(m.Looked) {
		m.Looked = at
	}
}
