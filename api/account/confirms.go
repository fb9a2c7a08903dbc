package account

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
)

// Confirm is one confirm of an intent, as the audit log of this machine tells it, and what reads have shown since.
type Confirm struct {
	Attempt  string          `json:"attempt"` // its id in the audit log
	Intent   api.ID          `json:"intent"`
	Where    api.Text        `json:"environment,omitempty"` // the name of the environment that it was sent to
	Run      api.Text        `json:"run,omitempty"`         // which run of tillwatch sent it; "" if the log does not say
	Own      bool            `json:"own,omitempty"`         // that is this one
	Product  api.Text        `json:"product,omitempty"`
	Total    string          `json:"total,omitempty"`
	Sent     time.Time       `json:"sent"`              // the last time, where it was repeated
	Answered time.Time       `json:"answered,omitzero"` // when an answer came, or was lost, that proves nothing; zero: not so far
	Answer   api.Text        `json:"answer,omitempty"`  // what that was
	Agreed   bool            `json:"agreed,omitempty"`  // it was a yes, though reads show nothing of it
	Ended    time.Time       `json:"ended,omitzero"`    // when its outcome became known; zero: it is not
	End      ConfirmEnd      `json:"end,omitempty"`     // that outcome; "" while it is not known
	Detail   api.Text        `json:"detail,omitempty"`  // of the outcome, in words
	Reads    int             `json:"reads,omitempty"`   // of this run, sent after it
	Read     time.Time       `json:"read,omitzero"`     // when the newest of them was sent
	Shown    api.IntentState `json:"shown,omitempty"`   // the state that it showed
	By       time.Time       `json:"by,omitzero"`       // when reads have settled it, unless they fail; zero: not told
	ByOther  bool            `json:"byOther,omitempty"` // another run than the one that sent it found out the outcome
	inferred bool            // the log does not have the outcome: a read shows it
}

// ConfirmEnd is the outcome of a confirm.
type ConfirmEnd string

// The outcomes.
const (
	ConfirmPlaced  ConfirmEnd = "placed"      // the order is placed, or being placed
	ConfirmFailed  ConfirmEnd = "failed"      // it was taken, and its order failed
	ConfirmNotDone ConfirmEnd = "not taken"   // the service did not take it: nothing was bought
	ConfirmRefused ConfirmEnd = "refused"     // nothing was bought
	ConfirmNotSent ConfirmEnd = "not sent"    // nothing was bought
	ConfirmExpired ConfirmEnd = "expired"     // the intent ended without an order
	ConfirmLost    ConfirmEnd = "never known" // nobody will ever know
	ConfirmLate    ConfirmEnd = "late"        // it counted as without effect, but a later read shows an order
)

// ConfirmAnswerWithin is how long a confirm counts as under way without an answer.
const ConfirmAnswerWithin = 25 * time.Second

// UnderWay reports whether the answer can still come.
func (c *Confirm) UnderWay(now time.Time) bool {
	age := now.Sub(c.Sent) // below zero once the clock was set back
	return c.Ended.IsZero() && c.Answered.IsZero() && age > -time.Minute && age < ConfirmAnswerWithin
}

// Unknown reports whether nobody knows whether there is an order: the loudest thing there is.
func (c *Confirm) Unknown(now time.Time) bool { return c.Ended.IsZero() && !c.UnderWay(now) }

// WasUnknown reports whether the outcome was not known for a while, and is now.
func (c *Confirm) WasUnknown() bool {
	return !c.Ended.IsZero() && (c.ByOther || !c.Answered.IsZero() || c.Ended.Sub(c.Sent) >= ConfirmAnswerWithin)
}

// mostConfirms bounds how many confirms with a known outcome are kept.
const mostConfirms = 100

// confirmBook keeps the confirms that the audit log tells of. A list that was handed out never changes.
type confirmBook struct {
	list []*Confirm // those without a known outcome first, the oldest first; then the others, the newest first
}

// RecordConfirms sets what the audit log tells: every confirm without a known outcome, and those that ended lately.
func (s *Store) RecordConfirms(all []Confirm) {
	s.update(func(now time.Time) {
		s.confirms.set(all)
		for _, c := range s.confirms.list {
			if in := s.intents.get(c.Intent); in != nil {
				s.confirms.compare(in)
			}
		}
		for _, c := range s.confirms.list {
			s.noteConfirm(c)
		}
		s.alerts.judgeConfirms(s.confirms.list, now)
	})
}

func (b *confirmBook) set(all []Confirm) {
	var list []*Confirm
	for _, c := range all {
		if before := b.of(c.Attempt); before != nil {
			c.Reads, c.Read, c.Shown = before.Reads, before.Read, before.Shown
		}
		list = append(list, &c)
	}
	slices.SortStableFunc(list, func(a, b *Confirm) int {
		open := func(c *Confirm) int {
			if c.Ended.IsZero() {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(open(a), open(b)), b.Ended.Compare(a.Ended), a.Sent.Compare(b.Sent))
	})
	ended := 0
	b.list = slices.DeleteFunc(list, func(c *Confirm) bool {
		if !c.Ended.IsZero() {
			ended++
		}
		return ended > mostConfirms
	})
}

func (b *confirmBook) of(attempt string) *Confirm {
	if i := slices.IndexFunc(b.list, func(c *Confirm) bool { return c.Attempt == attempt }); i >= 0 {
		return b.list[i]
	}
	return nil
}

// read counts a read of an intent whose confirm has no known outcome.
func (b *confirmBook) read(read *api.Intent, sent time.Time) {
	for i, c := range b.list {
		if c.Ended.IsZero() && c.Intent == read.ID && sent.After(c.Sent) {
			after := *c
			after.Reads++
			after.Read, after.Shown = sent, read.State
			b.list = slices.Clone(b.list)
			b.list[i] = &after
		}
	}
}

// compare holds how the newest confirm of an intent ended against what reads show now: a read is the truth.
func (b *confirmBook) compare(in *IntentDetail) {
	at := -1
	for i, c := range b.list {
		if c.Intent == in.ID && (at < 0 || c.Sent.After(b.list[at].Sent)) {
			at = i
		}
	}
	if at < 0 || in.Certainty != Verified || !in.ReadAt.After(b.list[at].Sent) {
		return
	}
	ordered := in.State == api.PlacingOrder || in.State == api.Completed
	after := *b.list[at]
	switch after.End {
	case "":
		if ordered && after.Unknown(in.ReadAt) { // whoever sent it may be gone, or read-only
			after.Ended, after.End, after.inferred = in.ReadAt, ConfirmPlaced, true
		}
	case ConfirmPlaced:
		if in.State == api.Failed {
			after.End = ConfirmFailed
		}
	case ConfirmNotDone, ConfirmRefused: // not one that was never sent: the order is somebody else's
		if ordered {
			after.End = ConfirmLate
		}
	}
	if after != *b.list[at] {
		b.list = slices.Clone(b.list)
		b.list[at] = &after
	}
}

// noteConfirm adds what a confirm went through to its intent's timeline, each moment once.
func (s *Store) noteConfirm(c *Confirm) {
	if s.intents.get(c.Intent) == nil {
		return // its moments come with its first read
	}
	told := func(what What, when time.Time, who, words api.Text) {
		in, when := s.intents.get(c.Intent), utc(when)
		if when.IsZero() || slices.ContainsFunc(in.Timeline, func(m *Moment) bool { return m.What == what && m.When.Equal(when) }) {
			return
		}
		s.intents.edit(c.Intent).remember(&Moment{What: what, When: when, Learnt: when, Who: who, Words: words})
	}
	told(ConfirmSent, c.Sent, c.Run, "")
	told(ConfirmOpen, c.Answered, "", c.Answer)
	if !c.inferred && (c.End != ConfirmPlaced || c.WasUnknown()) {
		told(ConfirmEnded, c.Ended, "", api.Scrub(string(c.End)))
	}
}

// noteConfirms is noteConfirm for all confirms of an intent.
func (s *Store) noteConfirms(intent api.ID) {
	for _, c := range s.confirms.list {
		if c.Intent == intent {
			s.noteConfirm(c)
		}
	}
}

// judgeConfirms raises an alert for each confirm whose outcome is unknown, or turned out to be another, and clears the
// others.
func (b *alerts) judgeConfirms(list []*Confirm, now time.Time) {
	unknown := map[alertKey]bool{}
	for _, c := range list {
		if !c.Unknown(now) && c.End != ConfirmLate {
			continue
		}
		key := alertKey{kind: AlertConfirm, intent: c.Intent, cause: c.Attempt}
		unknown[key] = true
		name := cmp.Or(string(c.Product), string(c.Intent))
		text := "the outcome of its confirm is unknown: do not buy it again"
		if c.End == ConfirmLate {
			text = "bought after all: its confirm counted as without effect, but reads show an order"
		}
		b.renew(true, key, Alert{Since: c.Sent, Text: fmt.Sprintf("%s, %s: %s", name, c.Total, text)})
	}
	for key := range b.standing {
		if key.kind == AlertConfirm && !unknown[key] {
			b.renew(false, key, Alert{})
		}
	}
}
