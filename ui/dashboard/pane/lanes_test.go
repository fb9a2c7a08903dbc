package pane

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// crowded is a pane whose lanes of awaiting and failed intents do not fit, with the cursor
// far down in the failed lane.
func crowded() *Intents {
	var all []*account.Intent
	for i := range 40 {
		age := time.Duration(i) * time.Minute
		all = append(all, intentOf(fmt.Sprintf("ci_failed_%02d", i), api.Failed, age), intentOf(fmt.Sprintf("ci_awaiting_%02d", i), api.AwaitingConfirmation, age))
	}
	p := intents(160, 20, append(all, intentOf("ci_placing", api.PlacingOrder, 0))...)
	p.Select("ci_failed_00")
	p.Move(Last)
	return p
}

// scrolled returns how many rows of a lane are above its window.
func (p *Intents) scrolled(lane int) int {
	_, first := p.lanes.tables[lane].Window()
	return first
}

func TestALaneReturnsToItsTopWhenTheCursorLeaves(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(p *Intents)
	}{
		{"to the next lane", func(p *Intents) { p.Move(Left) }},
		{"by a click into another", func(p *Intents) { p.lanes.fit(); p.Click(p.lanes.cells[laneAwaiting].x+1, 4) }},
		{"by a jump", func(p *Intents) { p.Select("ci_placing") }},
		{"with its row", func(p *Intents) {
			p.Apply(&account.Changes{Intents: []*account.Intent{intentOf(string(p.Subject().ID), api.Completed, 0)}}, false)
		}},
		{"by a filter that it stays with", func(p *Intents) {
			p.SetFilter(ParseFilter("state:placing", p.Fields()))
			p.Stay()
			p.SetFilter(nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := crowded()
			before := p.scrolled(laneFailed)
			c.leave(p)
			if now := p.scrolled(laneFailed); before == 0 || p.lanes.at == laneFailed || now != 0 {
				t.Errorf("%d rows above the window before, %d after the cursor went to lane %d", before, now, p.lanes.at)
			}
			p.Select("ci_failed_07")
			if p.Subject().ID != "ci_failed_07" {
				t.Errorf("the cursor does not come back, but is on %s", p.Subject().ID)
			}
		})
	}
}

func TestALaneStaysWhereItIsWhileTheCursorIsInIt(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *Intents)
	}{
		{"when there is no lane further on", func(p *Intents) { p.Move(Right) }},
		{"when a newer row comes", func(p *Intents) {
			p.Apply(&account.Changes{Intents: []*account.Intent{intentOf("ci_new", api.Failed, 0)}}, false)
		}},
		{"while a filter shows nothing of it", func(p *Intents) {
			p.SetFilter(ParseFilter("state:placing", p.Fields()))
			p.SetFilter(nil)
		}},
		{"when the wheel turns over another", func(p *Intents) { p.lanes.fit(); p.Wheel(p.lanes.cells[laneAwaiting].x+1, 4, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := crowded()
			under := p.Subject()
			c.do(p)
			if p.Subject() != under || p.scrolled(laneFailed) == 0 {
				t.Errorf("the cursor is on %s instead of %s, %d rows above the window", p.Subject().ID, under.ID, p.scrolled(laneFailed))
			}
		})
	}
}

func TestTheCursorBeginsInALaneThatHasACard(t *testing.T) {
	place := func(p *Intents, states ...api.IntentState) {
		var all []*account.Intent
		for _, state := range states {
			all = append(all, intentOf(string(state), state, time.Minute))
		}
		p.Apply(&account.Changes{Intents: all}, len(p.rows) == 0)
	}
	for _, c := range []struct {
		name string
		do   func(p *Intents)
		want api.ID // under the cursor
	}{
		{"awaiting, if there is one", func(p *Intents) { place(p, api.RetrievingOffer, api.AwaitingConfirmation) }, "awaiting_confirmation"},
		{"the first one otherwise", func(p *Intents) { place(p, api.Completed, api.Failed) }, "completed"},
		{"it stays when cards come before it", func(p *Intents) { place(p, api.Completed); place(p, api.AwaitingConfirmation) }, "completed"},
		{"it stays where a person has put it", func(p *Intents) { p.Move(Left); place(p, api.Completed) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewIntents(look(), api.ConfirmWindow)
			p.SetPlace(Place{W: 160, H: 20})
			p.Apply(&account.Changes{}, true)
			c.do(p)
			if got := p.Subject().ID; got != c.want {
				t.Errorf("the cursor is on %q, want %q", got, c.want)
			}
		})
	}
}

func TestALaneThatReturnsToItsTopIsDrawnThere(t *testing.T) {
	p := crowded()
	p.lanes.fit()
	p.Wheel(p.lanes.cells[laneAwaiting].x+1, 4, 9)
	p.Lines()
	p.Stay()
	shown := slices.Clone(p.Lines())
	p.Invalidate()
	if now := p.Lines(); !slices.Equal(shown, now) {
		t.Errorf("the pane shows\n%s\nand not\n%s", strings.Join(shown, "\n"), strings.Join(now, "\n"))
	}
}
