package pane

import (
	"image/color"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

func TestAnEventGlowsForWhatHappenedAndNotForAName(t *testing.T) {
	p := NewEvents(look(), noIntent)
	p.SetPlace(Place{W: 120, H: 12})
	p.Apply(&account.Changes{Events: []*account.Event{
		{ID: "evt_first", Type: api.OfferRetrieved, Received: noon.Add(-time.Hour)},
		{ID: "evt_second", Type: api.OfferRetrieved, Received: noon.Add(-time.Hour)},
	}}, true)
	p.list.Move(-1) // away from the newest, where all moves anyway
	p.look.Brush = paint.NewBrush(themes.Theme{Glow: color.RGBA{R: 1, G: 2, B: 3, A: 255}}, false)
	at := noon
	tell := func(e account.Event) string {
		t.Helper()
		e.ID, e.Type, e.SourceType, e.SourceID, e.Received = "evt_1", api.OfferRetrieved, api.SourceIntent, "ci_1", noon
		at = at.Add(time.Minute)
		p.look.Now = at
		p.Apply(&account.Changes{Events: []*account.Event{&e}}, false)
		return strings.Join(p.Lines(), "\n")
	}
	for _, step := range []struct {
		name  string
		event account.Event
		glows bool
	}{
		{"new", account.Event{}, true},
		{"its product is named", account.Event{Product: "Usb C Dock"}, false},
		{"the product gets its title", account.Event{Product: "USB-C Dock, 11 Ports"}, false},
		{"it came twice", account.Event{Product: "USB-C Dock, 11 Ports", Duplicates: 1}, true},
	} {
		shown := tell(step.event)
		if got := strings.Contains(shown, "48;2;1;2;3"); got != step.glows {
			t.Errorf("%s: it glows: %t, want %t", step.name, got, step.glows)
		}
		if !strings.Contains(shown, string(step.event.Product)) {
			t.Errorf("%s: the product's name is not shown", step.name)
		}
	}
}

func TestAnEventOfLongAgoShowsItsDay(t *testing.T) {
	for _, c := range []struct {
		name  string
		ago   time.Duration
		width int
		want  string
	}{
		{"a moment", time.Second, 120, "11:59:59.0"},
		{"23 hours", 23 * time.Hour, 120, "13:00:00.0"},
		{"a day", 24 * time.Hour, 120, noon.AddDate(0, 0, -1).Format("Jan_2 15:04")},
		{"a day, in a narrow pane", 24 * time.Hour, 60, noon.AddDate(0, 0, -1).Format("Jan _2")},
		{"a day, in the narrowest pane", 24 * time.Hour, 40, noon.AddDate(0, 0, -1).Format("Jan_2")},
		{"days ahead of this machine's clock", -72 * time.Hour, 120, noon.AddDate(0, 0, 3).Format("Jan_2 15:04")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewEvents(look(), noIntent)
			p.SetPlace(Place{W: c.width, H: 12})
			p.Apply(&account.Changes{Events: []*account.Event{{ID: "evt_1", Type: api.OfferRetrieved, Received: noon.Add(-c.ago)}}}, true)
			if got := text(p.Lines()); !strings.Contains(got, c.want+" ") {
				t.Errorf("the pane does not show %q:\n%s", c.want, got)
			}
		})
	}
}
