package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// keepReads bounds the moments that reads and timers add to a timeline: beyond it, the oldest of them go, except
// the first moment. Events and confirms stay, up to mostMoments of all kinds.
const (
	keepReads   = 200
	mostMoments = 500
)

// remember inserts a moment into the timeline: by when it happened, then the earlier state first, then in order of
// arrival.
func (i *IntentDetail) remember(m *Moment) { i.Timeline = shorten(insert(i.Timeline, m)) }

// remembers reports whether the timeline holds an event.
func (i *IntentDetail) remembers(event api.ID) bool {
	return event != "" && slices.ContainsFunc(i.Timeline, func(m *Moment) bool { return m.EventID == event })
}

// foldRead counts a read that changed nothing, merged with its neighbours of the kind.
func (i *IntentDetail) foldRead(sent, learnt time.Time) {
	last := len(i.Timeline) - 1
	if last < 0 || i.Timeline[last].What != Unchanged {
		i.remember(&Moment{What: Unchanged, When: utc(sent), Learnt: utc(learnt), Count: 1})
		return
	}
	m := *i.Timeline[last]
	m.Count++
	m.When, m.Learnt = later(m.When, utc(sent)), later(m.Learnt, utc(learnt))
	i.Timeline = slices.Clone(i.Timeline)
	i.Timeline[last] = &m
}

// readMoment is what a read or a confirm's answer showed. total is the intent's total as kept.
func readMoment(read *api.Intent, total *api.Money, how Learnt, from api.IntentState, sent, learnt time.Time) *Moment {
	m := &Moment{What: ReadShowed, From: from, To: read.State, When: utc(sent), Learnt: utc(learnt)}
	if how == ByConfirm {
		m.What = ConfirmTaken
	}
	if read.Failure != nil {
		m.Failure = read.Failure.Code
	}
	if shown, ok := read.Total(); ok && m.Failure == "" {
		if m.Total = total; total == nil || *total != shown {
			m.Total = &shown
		}
	}
	return m
}

// insert returns line with a moment inserted and no spare capacity: most intents have ended and get no more. It
// does not change line, which others may hold.
func insert(line []*Moment, m *Moment) []*Moment {
	at := len(line)
	for at > 0 && precedes(m, line[at-1]) {
		at--
	}
	return slices.Concat(line[:at], []*Moment{m}, line[at:])
}

func precedes(m, o *Moment) bool {
	if !m.When.Equal(o.When) {
		return m.When.Before(o.When)
	}
	mine, other := m.State(), o.State()
	return mine != "" && other != "" && mine.Rank() < other.Rank()
}

// shorten drops the excess of a timeline. The first moment stays: it shows how the intent began.
func shorten(line []*Moment) []*Moment {
	reads := 0
	for _, m := range line {
		if m.mayGo() {
			reads++
		}
	}
	surplus, which := 0, (*Moment).mayGo
	switch {
	case reads > keepReads:
		surplus = reads - keepReads
	case len(line) > mostMoments:
		surplus, which = mostMoments/8, func(m *Moment) bool { return m.What != LetGo }
	default:
		return line
	}
	kept, gone := make([]*Moment, 0, len(line)+1), 0
	for i, m := range line {
		switch {
		case i > 0 && gone < surplus && which(m):
			gone++
		case m.What != LetGo:
			kept = append(kept, m)
		}
	}
	if gone == 0 {
		return line
	}
	return slices.Insert(kept, 1, &Moment{What: LetGo, When: line[0].When, Learnt: line[0].Learnt, Count: gone + alreadyGone(line)})
}

func alreadyGone(line []*Moment) int {
	if i := slices.IndexFunc(line, func(m *Moment) bool { return m.What == LetGo }); i >= 0 {
		return line[i].Count
	}
	return 0
}

// mayGo reports whether a moment may be dropped if there are too many.
func (m *Moment) mayGo() bool {
	by := m.By()
	return (by == ByRead || by == ByTimer) && m.What != LetGo
}
