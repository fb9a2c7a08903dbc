package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// TestNothingGlowsForEverAfterTheClockWasSetBack changes a row, and sets the clock
// back by an hour.
func TestNothingGlowsForEverAfterTheClockWasSetBack(t *testing.T) {
	now := time.Now()
	s := typicalShop(now)
	m := boardOf(t, s, 160, 45, func(c *Config) { c.Now = func() time.Time { return now } })
	r, g, b, _ := m.themes.chosen.Glow.RGBA()
	ground := fmt.Sprintf("48;2;%d;%d;%d", r>>8, g>>8, b>>8)
	glows := func() bool { return strings.Contains(drawing(m), ground) }
	in := *s.changes.Intents[1]
	in.State, in.Since = api.PlacingOrder, now
	m.Update(changesMsg{account.Changes{Version: 2, Intents: []*account.Intent{&in}, Summary: s.changes.Summary}})
	if !glows() {
		t.Fatal("what has changed does not glow")
	}
	now = now.Add(-time.Hour)
	for range 3 {
		m.Update(tickMsg{})
		if glows() {
			t.Fatal("it glows before it has changed")
		}
		now = now.Add(time.Second)
	}
}

// TestAFrozenScreenHoldsWhatItHasTakenOver freezes right behind a change that a pane
// would draw with the next second.
func TestAFrozenScreenHoldsWhatItHasTakenOver(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 160, 45)
	m.View()
	s.changes.Summary.Day.Seen = 44
	m.Update(changesMsg{account.Changes{Version: 2, Summary: s.changes.Summary}})
	press(m, "space")
	held := screen(m)
	if !strings.Contains(held, "44 made") {
		t.Errorf("the day's count is not there:\n%s", held)
	}
	press(m, "2", "1")
	if got := screen(m); got != held {
		t.Errorf("it was\n%s\nand, frozen, became\n%s", held, got)
	}
}
