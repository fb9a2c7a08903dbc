package dashboard

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/pane"
)

// A start is replayed message by message. What c acts on is asked before and after each.
func TestAnUntouchedCursorStaysOnItsIntent(t *testing.T) {
	sooner := func(s *shop, n int) *account.Intent { // more urgent than all others
		in := s.intent(n, api.AwaitingConfirmation, 44*time.Minute)
		in.ExpiresAt = s.now.Add(time.Duration(200-n) * time.Second)
		return in
	}
	whole := func(s *shop) account.Changes {
		c := s.Changes(0)
		c.Whole = true
		return c
	}
	move := func(s *shop, id api.ID, to api.IntentState) account.Changes {
		s.place(id, to)
		return s.Changes(0)
	}
	for _, c := range []struct {
		name  string
		then  func(s *shop, id api.ID, i int) account.Changes // the i-th change while nobody touches a key
		lost  bool                                            // the row may be out of sight: then nothing is under the cursor
		moves bool                                            // the intent is let go: the cursor goes to its neighbour
	}{
		{name: "more urgent ones arrive", then: func(s *shop, _ api.ID, i int) account.Changes {
			sooner(s, 90+i)
			return s.Changes(0)
		}, lost: true},
		{name: "the saved picture is restored", then: func(s *shop, _ api.ID, i int) account.Changes {
			sooner(s, 90+i)
			return whole(s)
		}, lost: true},
		{name: "reads find others in other states", then: func(s *shop, id api.ID, i int) account.Changes {
			if other := s.changes.Intents[i].ID; other != id {
				return move(s, other, api.IntentStates()[i%5])
			}
			return s.Changes(0)
		}},
		{name: "reads find it in one state after another", then: func(s *shop, id api.ID, i int) account.Changes {
			return move(s, id, api.IntentStates()[2+min(i, 2)])
		}, lost: true},
		{name: "a picture that starts over has it in another state", then: func(s *shop, id api.ID, i int) account.Changes {
			s.place(id, api.IntentStates()[2+i%3])
			return whole(s)
		}, lost: true},
		{name: "others are let go", then: func(s *shop, id api.ID, i int) account.Changes {
			c := account.Changes{Version: uint64(i + 2), Summary: s.changes.Summary}
			if other := s.changes.Intents[i].ID; other != id {
				c.GoneIntents = []api.ID{other}
			}
			return c
		}},
		{name: "it is let go", then: func(s *shop, id api.ID, i int) account.Changes {
			return account.Changes{Version: uint64(i + 2), Summary: s.changes.Summary, GoneIntents: []api.ID{id}}
		}, moves: true},
	} {
		for _, size := range [][2]int{{200, 55}, {120, 40}, {80, 24}} {
			t.Run(fmt.Sprintf("%s, %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newShop(time.Now())
					m := boardOf(t, s, size[0], size[1])
					for i := range 20 { // rows arrive, each for less time than anybody needs to choose one
						sooner(s, i)
						m.Update(changesMsg{s.Changes(0)})
						m.View()
						time.Sleep(50 * time.Millisecond)
					}
					newest := s.id(19)
					if in, ok := m.board.intentUnder(); !ok || in.ID != newest {
						t.Fatalf("the cursor is not on the most urgent intent %s, but on %v", newest, in)
					}
					time.Sleep(300 * time.Millisecond) // the first paint that lasts
					m.Update(tickMsg{})
					for i := range 20 {
						m.Update(changesMsg{c.then(s, newest, i)})
						m.View()
						in, ok := m.board.intentUnder()
						switch {
						case c.moves && ok && in.ID != newest, !ok && c.lost, ok && in.ID == newest:
						case !ok:
							t.Fatalf("after change %d nothing is under the cursor", i)
						default:
							t.Fatalf("after change %d, c acts on %s (%s) and not on %s", i, in.ID, in.State, newest)
						}
						time.Sleep(400 * time.Millisecond)
						m.Update(tickMsg{})
					}
				})
			})
		}
	}
}

func TestAnUntouchedCursorStaysOnItsRowInEveryPane(t *testing.T) {
	for _, c := range []struct {
		name, key string
		comes     func(s *shop, i int)
	}{
		{"shipments", "2", func(s *shop, i int) { s.shipment(200+i, api.Delayed, -time.Duration(i)*time.Hour) }},
		{"events", "4", func(s *shop, i int) { s.event(i, api.OfferRetrieved, -time.Duration(i)*time.Second) }},
		{"requests", "5", func(s *shop, i int) {
			sent := time.Now().Add(time.Duration(i) * time.Second)
			s.changes.Requests = append(s.changes.Requests, api.Exchange{Method: "GET", Path: "/api/v1/shipments", Sent: sent})
		}},
		{"alerts", "6", func(s *shop, i int) {
			a := account.Alert{Intent: s.id(20 + i), Since: time.Now().Add(time.Duration(i) * time.Second)}
			a.Kind = account.AlertKinds()[i%len(account.AlertKinds())]
			s.changes.Summary.Alerts = append(s.changes.Summary.Alerts, a)
		}},
	} {
		for _, pressed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, a key was pressed there: %t", c.name, pressed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := typicalShop(time.Now())
					m := boardOf(t, s, 200, 55)
					press(m, c.key)
					if pressed {
						press(m, "k", "G", "g")
					}
					under, in := m.board.subject(), 0
					for i := range 12 {
						c.comes(s, i)
						m.Update(changesMsg{s.Changes(0)})
						m.View()
						now := m.board.subject()
						if now == under {
							in++
						} else if now != (pane.Subject{}) {
							t.Fatalf("change %d moved the cursor from %v to %v", i, under, now)
						}
						time.Sleep(400 * time.Millisecond)
						m.Update(tickMsg{})
					}
					if in < 3 {
						t.Errorf("the row %v was out of sight after %d changes", under, in)
					}
					if press(m, "k"); m.board.subject().Kind == pane.None {
						t.Error("a key does not bring the cursor back")
					}
				})
			})
		}
	}
}
