package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/pane"
)

func TestJumpingToAnID(t *testing.T) {
	s := typicalShop(time.Now())
	intent, shipment, event := s.changes.Intents[20].ID, s.changes.Shipments[3].ID, s.changes.Events[7].ID
	cases := []struct {
		name string
		text string
		want pane.Subject
		says string
	}{
		{"an intent", string(intent), pane.Subject{Kind: pane.OfIntent, ID: intent}, ""},
		{"a shipment", string(shipment), pane.Subject{Kind: pane.OfShipment, ID: shipment}, ""},
		{"an event", string(event), pane.Subject{Kind: pane.OfEvent, ID: event}, ""},
		{"the beginning of one", string(intent[:11]), pane.Subject{Kind: pane.OfIntent, ID: intent}, ""},
		{"the end of one", string(intent[len(intent)-14:]), pane.Subject{Kind: pane.OfIntent, ID: intent}, ""},
		{"an address", "https://api.example/api/v1/checkout-intents/" + string(intent) + "/confirm?x=1", pane.Subject{Kind: pane.OfIntent, ID: intent}, ""},
		{"in quotes", ` "` + string(intent) + `", `, pane.Subject{Kind: pane.OfIntent, ID: intent}, ""},
		{"several", "ci_", pane.Subject{}, "ids begin or end with ci_"},
		{"a short one that is not known", "ci_zz", pane.Subject{}, "not known here"},
		{"one that is not known", "ci_elsewhere", pane.Subject{Kind: pane.OfIntent, ID: "ci_elsewhere"}, "reading it as an intent"},
		{"a path that goes up", "../../etc/ci_elsewhere", pane.Subject{}, "../../etc/ci_elsewhere is not an id but looks like a path"},
		{"a step up", "..", pane.Subject{}, ".. is not an id but looks like a path"},
		{"a step that stays", ".", pane.Subject{}, ". is not an id but looks like a path"},
		{"nothing", "  ", pane.Subject{}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var asked []api.ID
			m := boardOf(t, s, 200, 55, func(c *Config) { c.Refresh = func(id api.ID) { asked = append(asked, id) } })
			press(m, "i")
			m.Update(tea.PasteMsg{Content: c.text})
			cmd := press(m, "enter")
			got := pane.Subject{}
			if m.board.detailOpen {
				got = m.board.detail.Subject()
			}
			if got != c.want || !strings.Contains(screen(m), c.says) {
				t.Errorf("shows %v, want %v and %q:\n%s", got, c.want, c.says, screen(m))
			}
			settle(m, cmd)
			if reads := c.name == "one that is not known"; reads != (len(asked) == 1) {
				t.Errorf("asked for %v", asked)
			}
		})
	}
}

func TestSortingByColumn(t *testing.T) {
	for key, names := range map[string][]string{
		"1": {"age ↓", "total ↓", "product ↑", "merchant ↑"},
		"2": {"age ↓", "estimate ↑", "product ↑", "carrier ↑"},
		"3": {"left ↑", "own ↓", "others ↓", "refused ↓"},
		"4": {"type ↑", "product ↑", "id ↑", "seq ↑"},
		"5": {"latency ↑", "status ↑", "path ↑", "by ↑", "class ↑", "attempt ↑"},
		"6": {"kind ↑", "text ↑", "id ↑"},
	} {
		m := boardOf(t, typicalShop(time.Now()), 200, 55)
		press(m, key)
		for _, name := range names {
			if press(m, "s"); !strings.Contains(screen(m), "· by "+name) {
				t.Errorf("pane %s is not sorted by %s:\n%s", key, name, screen(m))
			}
		}
		if press(m, "s"); strings.Contains(screen(m), "· by ") {
			t.Errorf("pane %s is not in its own order again:\n%s", key, screen(m))
		}
		if press(m, "S"); !strings.Contains(screen(m), "S reverses it") || !strings.Contains(screen(m), "· by ") {
			t.Errorf("pane %s does not tell that its own order is reversed:\n%s", key, screen(m))
		}
	}
}

func TestTheCursorStaysOnItsRowWhenTheOrderChanges(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	press(m, "j", "j")
	id := m.board.subject().ID
	for range 6 {
		press(m, "s")
		if got := m.board.subject().ID; got != id {
			t.Fatalf("the cursor is on %s, want %s", got, id)
		}
	}
}
