package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// keepReads bounds the moments of a timeline that reads and timers brought. Beyond
// it the oldest of them but the first moment are let go. Events and confirms stay,
// up to mostMoments of anything.
const (
	keepReads   = 200
	mostMoments = 500
)

// remember puts a moment into its place in the timeline: by when it happened, of
// equal moments the earlier state first, and else as they became known.
func (i *IntentDetail) remember(m Moment) { i.Timeline = shorten(insert(i.Timeline, m)) }

// remembers reports whether the timeline holds an event.
func (i *IntentDetail) remembers(event api.ID) bool {
	return event != "" && slices.ContainsFunc(i.Timeline, func(m Moment) bool { return m.EventID == event })
}

// foldRead counts a read that changed nothing, in one moment with those around it.
func (i *IntentDetail) foldRead(sent, learnt time.Time) {
	last := len(i.Timeline) - 1
	if last < 0 || i.Timeline[last].What != Unchanged {
		i.remember(Moment{What: Unchanged, When: utc(sent), Learnt: utc(learnt), Count: 1})
		return
	}
	i.Timeline = slices.Clone(i.Timeline)
	m := &i.Timeline[last]
	m.Count++
	m.When, m.Learnt = later(m.When, utc(sent)), later(m.Learnt, utc(learnt))
}

// readMoment is what a read showed, or what a confirm was answered. total is that of
// the intent as it is kept.
func readMoment(read *api.Intent, total *api.Money, how Learnt, from api.IntentState, sent, learnt time.Time) Moment {
	m := Moment{What: ReadShowed, From: from, To: read.State, When: utc(sent), Learnt: utc(learnt)}
	if how == ByConfirm {
		m.What = ConfirmTaken
	}
	if read.Failure != nil {
		m.Failure = read.Failure.Code
	}
	if told, ok := read.Total(); ok && m.Failure == "" {
		if m.Total = total; total == nil || *total != told {
			m.Total = &told
		}
	}
	return m
}

// insert returns line with a moment in its place, and no room for more: most of an
// account are ended intents, to which none will come. It leaves line as it is: others
// may hold it.
func insert(line []Moment, m Moment) []Moment {
	at := len(line)
	for at > 0 && precedes(&m, &line[at-1]) {
		at--
	}
	return slices.Concat(line[:at], []Moment{m}, line[at:])
}

func precedes(m, o *Moment) bool {
	if !m.When.Equal(o.When) {
		return m.When.Before(o.When)
	}
	mine, other := m.State(), o.State()
	return mine != "" && other != "" && mine.Rank() < other.Rank()
}

// shorten lets go what is too much of a timeline. The first moment stays: it shows
// how it began.
func shorten(line []Moment) []Moment {
	reads := 0
	for i := range line {
		if line[i].mayGo() {
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
	kept, gone := make([]Moment, 0, len(line)+1), 0
	for i := range line {
		m := &line[i]
		switch {
		case i > 0 && gone < surplus && which(m):
			gone++
		case m.What != LetGo:
			kept = append(kept, *m)
		}
	}
	if gone == 0 {
		return line
	}
	return slices.Insert(kept, 1, Moment{What: LetGo, When: line[0].When, Learnt: line[0].Learnt, Count: gone + alreadyGone(line)})
}

func alreadyGone(line []Moment) int {
	if i := slices.IndexFunc(line, func(m Moment) bool { return m.What == LetGo }); i >= 0 {
		return line[i].Count
	}
	return 0
}

// mayGo reports whether a moment may be let go where there are many.
func (m *Moment) mayGo() bool {
	by := m.By()
	return (by == ByRead || by == ByTimer) && m.What != LetGo
}
