package dashboard

import (
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

func TestAPositionOpens(t *testing.T) {
	s := typicalShop(time.Now())
	intent, shipment, event := string(s.id(5)), string(s.changes.Shipments[2].ID), string(s.changes.Events[3].ID)
	kept := Layout{Filters: []NamedFilter{{"late", "shipments", "status:delayed"}}}
	cases := []struct {
		at      string
		subject pane.Subject
		pane    layout.Pane
		filter  string
	}{
		{at: "intent:" + intent, subject: pane.Subject{Kind: pane.OfIntent, ID: api.ID(intent)}},
		{at: "shipment:" + shipment, subject: pane.Subject{Kind: pane.OfShipment, ID: api.ID(shipment)}},
		{at: "event:" + event, subject: pane.Subject{Kind: pane.OfEvent, ID: api.ID(event)}},
		{at: "order:order-20405", subject: pane.Subject{Kind: pane.OfOrder, Reference: "order-20405"}},
		{at: "filter:merchant:acme,globex", pane: layout.Intents, filter: "merchant:acme,globex"},
		{at: "filter:late", pane: layout.Shipments, filter: "status:delayed"},
		{at: "shipments:status:delayed", pane: layout.Shipments, filter: "status:delayed"},
		{at: "requests:status:429 by:tillwatch", pane: layout.Requests, filter: "status:429 by:tillwatch"},
		{at: "quota", pane: layout.Quota}, {at: "events", pane: layout.Events}, {at: "failures", pane: layout.Failures},
	}
	for _, c := range cases {
		t.Run(c.at, func(t *testing.T) {
			started := boardOf(t, s, 160, 45, func(cfg *Config) { cfg.At, cfg.Remembered = c.at, kept })
			asked := boardOf(t, s, 160, 45, func(cfg *Config) { cfg.Remembered = kept })
			said(asked, "at "+c.at, "enter")
			for name, m := range map[string]*Model{"at the start": started, "in the palette": asked} {
				if c.subject.Kind != pane.None {
					if got := m.board.detail.Subject(); !m.board.detailOpen || got != c.subject {
						t.Errorf("%s it opens %v, want %v:\n%s", name, got, c.subject, screen(m))
					}
					continue
				}
				if f := m.filters.inPane[c.pane]; m.board.focus != c.pane || c.filter != "" && (f == nil || f.Text != c.filter) {
					t.Errorf("%s %v has the focus, filtered by %v, want %v by %q", name, m.board.focus, f, c.pane, c.filter)
				}
				if c.pane == layout.Quota && !m.board.quotaWhole() {
					t.Errorf("%s the use of the quota does not have the screen", name)
				}
			}
		})
	}
}

func TestAPositionThatIsCopiedOpensTheSame(t *testing.T) {
	cases := []struct {
		name string
		keys []string
		want string
	}{
		{"an intent under the cursor", nil, "tillwatch watch --at intent:ci_"},
		{"an intent in the detail", []string{"enter"}, "tillwatch watch --at intent:ci_"},
		{"a shipment", []string{"2", "enter"}, "tillwatch watch --at shipment:shp_"},
		{"an event", []string{"4", "enter"}, "tillwatch watch --at event:evt_ci_"},
		{"a filter", []string{"/", "w", "o", "o", "l", "space", "'", "enter"}, `tillwatch watch --at 'intents:wool '\'''`},
		{"the use of the quota", []string{"u"}, "tillwatch watch --at quota"},
		{"the failures", []string{"F"}, "tillwatch watch --at failures"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 200, 55)
			press(m, c.keys...)
			sent, _ := press(m, "Y")().(terminalMsg)
			_, copied, _ := strings.Cut(screen(m), "asked the terminal to copy: ")
			copied, _, _ = strings.Cut(copied, "\n")
			if !strings.HasPrefix(copied, c.want) || !strings.HasPrefix(string(sent), "\x1b]52;c;") {
				t.Fatalf("it copies %q, want %q", copied, c.want)
			}
			position, err := exec.Command("sh", "-c", `tillwatch() { printf %s "$3"; }; `+copied).Output()
			if err != nil {
				t.Skip("there is no shell")
			}
			again := boardOf(t, typicalShop(time.Now()), 200, 55, func(cfg *Config) { cfg.At = string(position) })
			if again.positions.here() != m.positions.here() || again.positions.here() != string(position) {
				t.Errorf("%s leads to %s, want %s", position, again.positions.here(), m.positions.here())
			}
		})
	}
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	if press(m, "5", "enter", "Y"); !strings.Contains(screen(m), "a request has no position") {
		t.Errorf("the position of a request:\n%s", screen(m))
	}
}

func TestAPositionIsWaitedForUntilItIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := typicalShop(time.Now())
		late := *s.changes.Shipments[0]
		late.ID = "shp_late"
		m := boardOf(t, s, 160, 45, func(cfg *Config) { cfg.At = "shipment:shp_late" })
		if got := screen(m); !strings.Contains(got, "waiting for shipment:shp_late") || m.board.detailOpen {
			t.Errorf("at first:\n%s", got)
		}
		time.Sleep(3 * time.Second)
		m.Update(tickMsg{})
		m.Update(changesMsg{account.Changes{Version: 2, Shipments: []*account.Shipment{&late}, Summary: s.changes.Summary}})
		if !m.board.detailOpen || m.board.detail.Subject().ID != "shp_late" || strings.Contains(screen(m), "waiting for") {
			t.Errorf("once it is known:\n%s", screen(m))
		}
	})
}

func TestAPositionThatStaysUnknownIsSaidOrReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cases := []struct{ at, says string }{
			{"shipment:shp_nowhere", "shipment:shp_nowhere is not known here"},
			{"order:nobody", "order:nobody is not known here"},
			{"intent:ci_0000000000000000", "ci_0000000000000000 is not known here yet: reading it as an intent"},
			{"intent:x", "x is not known here"},
		}
		for _, c := range cases {
			var reads []api.ID
			m := boardOf(t, typicalShop(time.Now()), 160, 45, func(cfg *Config) {
				cfg.At, cfg.Refresh = c.at, func(id api.ID) { reads = append(reads, id) }
			})
			says := false
			for range 20 {
				time.Sleep(time.Second)
				m.advance(m.cfg.Now())
				settle(m, m.positions.begin(m.cfg.Now()))
				says = says || strings.Contains(screen(m), c.says)
			}
			if !says || len(reads) > 1 || (len(reads) == 1) != strings.Contains(c.says, "reading") || m.positions.start != nil {
				t.Errorf("%s: said %t, read %v", c.at, says, reads)
			}
		}
	})
}

func TestAKeyEndsTheWaitForAPosition(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 160, 45, func(cfg *Config) { cfg.At = "shipment:shp_late" })
	press(m, "3")
	late := *s.changes.Shipments[0]
	late.ID = "shp_late"
	m.Update(changesMsg{account.Changes{Version: 2, Shipments: []*account.Shipment{&late}, Summary: s.changes.Summary}})
	if m.board.detailOpen || m.board.focus != layout.Quota {
		t.Errorf("it takes the person away from where they went:\n%s", screen(m))
	}
}
