// Package attention records which alerts a person has acknowledged or muted, and
// gives alerts to a program.
package attention

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Memory is what is saved of a person's attention between runs. The zero Memory is
// empty.
type Memory struct {
	Looked time.Time `json:"looked,omitzero"` // when somebody last looked; zero: never
	Off    []Off     `json:"off,omitempty"`   // acknowledged and muted alerts, newest last

	Endings []string `json:"endings,omitempty"` // the confirms, by attempt, whose unknown outcome a person has seen to end; newest last
}

// Key identifies an alert, also in other runs.
type Key struct {
	Kind   account.AlertKind `json:"kind"`
	Intent api.ID            `json:"intent,omitempty"`
	Cause  string            `json:"cause,omitempty"`
}

// KeyOf is the key of an alert.
func KeyOf(a account.Alert) Key { return Key{a.Kind, a.Intent, a.Cause} }

// Off is an alert that a person has acknowledged, until it is over or gets worse, or
// muted for a time.
type Off struct {
	Key
	All      bool      `json:"all,omitempty"`      // every alert of the kind
	At       time.Time `json:"at"`                 // when
	Until    time.Time `json:"until,omitzero"`     // muted until then; zero: acknowledged
	Pressing bool      `json:"pressing,omitempty"` // it was already pressing when acknowledged, so it cannot get worse
}

// soon is the least time needed to look at an intent and confirm it.
const soon = 2 * time.Minute

// Pressing reports whether an alert has got worse since it was raised: what it warns
// of is about to happen.
func Pressing(a account.Alert, now time.Time) bool {
	return a.Cause != account.Spent && !a.Due.IsZero() && a.Due.Sub(now) <= soon
}

func (o Off) covers(a account.Alert, now time.Time) bool {
	switch {
	case o.Kind != a.Kind, !o.All && o.Key != KeyOf(a):
		return false
	case o.Until.IsZero():
		return o.Pressing || !Pressing(a, now)
	}
	return now.Before(o.Until) && o.At.Sub(now) < clockSlack
}

// clockSlack is how far in the future an entry may seem to have been made. Beyond that,
// the clock was set back by too much to trust the entry's end.
const clockSlack = time.Minute

// OffOf returns how an alert is acknowledged or muted, if it is. A mute comes first.
func (m *Memory) OffOf(a account.Alert, now time.Time) (off Off, ok bool) {
	for _, o := range m.Off {
		if o.covers(a, now) && (!ok || o.Until.After(off.Until)) {
			off, ok = o, true
		}
	}
	return off, ok
}

// mostOff limits the entries; the oldest are dropped first.
const mostOff = 500

// Put records an entry, in place of an earlier one for the same alert.
func (m *Memory) Put(o Off) {
	m.Take(o.Key, o.All)
	m.Off = append(m.Off, o)
	m.Off = m.Off[max(len(m.Off)-mostOff, 0):]
}

// Take removes the entry of an alert, or of a kind.
func (m *Memory) Take(key Key, all bool) {
	m.keep(func(o Off) bool { return o.Key != key || o.All != all })
}

// Forget drops acknowledgements of alerts that are over, and mutes that have ended.
func (m *Memory) Forget(now time.Time, over func(Key) bool) {
	m.keep(func(o Off) bool { return o.Until.IsZero() && !over(o.Key) || now.Before(o.Until) })
}

// keep replaces the list by a new one: others may hold the old one.
func (m *Memory) keep(keeps func(Off) bool) {
	m.Off = slices.DeleteFunc(slices.Clone(m.Off), func(o Off) bool { return !keeps(o) })
}

// See records at now when somebody looked.
func (m *Memory) See(at, now time.Time) {
	if at.After(m.Looked) || m.Looked.After(now) {
		m.Looked = at
	}
}

// mostEndings limits the endings; the oldest are dropped first. None is shown for longer than a day.
const mostEndings = 200

// SeeEnding records that a person has seen how a confirm ended.
func (m *Memory) SeeEnding(attempt string) {
	if !m.HasSeen(attempt) {
		m.Endings = append(slices.Clone(m.Endings), attempt) // others may hold the old list
		m.Endings = m.Endings[max(len(m.Endings)-mostEndings, 0):]
	}
}

// HasSeen reports whether a person has seen how a confirm ended.
func (m *Memory) HasSeen(attempt string) bool { return slices.Contains(m.Endings, attempt) }
