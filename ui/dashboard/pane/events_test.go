package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

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
