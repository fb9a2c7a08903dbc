package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// orderShop has an order of three items, one of which failed, one of two items, and
// three intents of no order.
func orderShop() (s *shop, items []api.ID) {
	s = newShop(time.Now())
	put := func(n int, state api.IntentState, in time.Duration, reference api.Text) {
		one := *s.intent(n, state, in)
		one.ReferenceID = reference
		s.put(&one)
		s.reads[one.ID].ReferenceID = reference
		items = append(items, one.ID)
	}
	put(0, api.AwaitingConfirmation, 40*time.Minute, "order-7") // 12.90
	put(1, api.AwaitingConfirmation, 39*time.Minute, "order-7") // 44.52
	put(2, api.Failed, 38*time.Minute, "order-7")
	put(4, api.AwaitingConfirmation, 30*time.Minute, "order-8") // 129.00
	put(5, api.PlacingOrder, time.Minute, "order-8")            // 139.95
	put(7, api.AwaitingConfirmation, 20*time.Minute, "")
	put(12, api.AwaitingConfirmation, 10*time.Minute, "order-9") // 28.00, alone
	put(3, api.Completed, 5*time.Minute, "")
	return s, items
}

// inOrder reports whether texts stand on the screen in this order.
func inOrder(got string, texts ...string) bool {
	for _, text := range texts {
		at := strings.Index(got, text)
		if at < 0 {
			return false
		}
		got = got[at+len(text):]
	}
	return true
}

func TestIntentsAreGroupedByOrderAndBack(t *testing.T) {
	s, _ := orderShop()
	var kept Layout
	m := boardOf(t, s, 200, 55, func(c *Config) { c.Remember = func(l Layout) { kept = l } })
	before := screen(m)
	press(m, "O")
	got := screen(m)
	if !inOrder(got, "by order", "order-7 · 3 items ", " 3 merchants ", " partly failed · failed … awaiting ", "57.42 USD", "Chili Crisp", "Wool Socks", "Desk Lamp", "lumen.example", "offer retrieval failed",
		"order-8 · 2 items ", " 2 merchants ", " awaiting … placing ", "268.95 USD", "Linen Shirt", "Trail Runners 2", "Sofa", "Merino Beanie", "acme.example", "order-9", "Mug") {
		t.Errorf("not grouped by order, the window that closes first on top:\n%s", got)
	}
	if strings.Contains(got, "order-9 ·") || !kept.ByOrder {
		t.Errorf("an order of one item is a group, or the grouping is not remembered (%v):\n%s", kept.ByOrder, got)
	}
	again := boardOf(t, s, 200, 55, func(c *Config) { c.Remembered = kept })
	if got := screen(again); !strings.Contains(got, "order-7 · 3 items") {
		t.Errorf("forgotten by the next run:\n%s", got)
	}
	press(m, "O")
	m.notices.toast, m.board.look.Now = toast{}, m.clock
	if got := screen(m); strings.Contains(got, "order-7") || kept.ByOrder {
		t.Errorf("does not come back:\n%s\nwas:\n%s", got, before)
	}
}

func TestGroupedIntentsAreFilteredSortedAndReadable(t *testing.T) {
	cases := []struct {
		name      string
		keys      []string
		want, not []string
	}{
		{"a filter shows the items that it finds, below their heads", append(strings.Split("O/socks", ""), "enter"), []string{"1 of 8", "order-7 · 3 items", "└ Wool Socks"}, []string{"Chili", "Linen"}},
		{"an order is found by its reference", append(strings.Split("O/order-8", ""), "enter"), []string{"order-8 · 2 items", "├ Linen Shirt", "└ Trail"}, []string{"Wool"}},
		{"sorted by total, the largest order first", []string{"O", "s", "s"}, []string{"Sofa", "order-8", "order-7", "Merino"}, nil},
		{"and reversed", []string{"O", "s", "s", "S"}, []string{"Merino", "order-7", "order-8", "Sofa"}, nil},
		{"enter on a head opens the order", []string{"O", "enter"}, []string{"ORDER", "3 items: 2 awaiting, 1 failed", "57.42 USD", "PARTLY FAILED", "ask the buyer", "ITEMS", "Chili Crisp", "Wool Socks", "Desk Lamp"}, nil},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {120, 36}} {
			s, _ := orderShop()
			m := boardOf(t, s, size[0], size[1])
			press(m, c.keys...)
			got := screen(m)
			if !inOrder(got, c.want...) {
				t.Errorf("%s, %v: want %q:\n%s", c.name, size, c.want, got)
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("%s, %v: %q is there:\n%s", c.name, size, not, got)
				}
			}
		}
	}
}

func TestAWholeOrderIsConfirmedFromItsHead(t *testing.T) {
	for _, keys := range [][]string{{"O", "c"}, {"O", "enter", "c"}} {
		synctest.Test(t, func(t *testing.T) {
			s, items := orderShop()
			g := &till{}
			m := boardOf(t, s, 160, 45, func(c *Config) { c.Armed, c.Confirmer = true, g })
			press(m, keys...)
			rest(m)
			got := screen(m)
			if !inOrder(got, "Confirm order-7", "2 of 3 items", "Chili Crisp", "12.90 USD", "Wool Socks", "44.52 USD", "✕ Desk Lamp", "not confirmed: failed: offer retrieval failed", "1 item has failed already: this buys the others alone.", "Total", "57.42 USD") {
				t.Fatalf("%v: the dialog does not show the whole order:\n%s", keys, got)
			}
			s.run(m, g, press(m, "C"))
			if want := items[:2]; !slices.Equal(g.sent, want) || g.most != 1 {
				t.Errorf("sent %v, want %v one after another", g.sent, want)
			}
		})
	}
}

func TestConfirmingAnOrderSaysThatItemsMayBeMissing(t *testing.T) {
	const told = "items may be missing."
	cases := []struct {
		name      string
		reference string
		lacking   func(*account.Summary)
		want      []string
		told      bool
	}{
		{"all is read", "order-9", func(*account.Summary) {}, []string{"2 items, the whole order"}, false},
		{"an item failed", "order-7", func(*account.Summary) {}, []string{"2 of 3 items", "1 item has failed already: this buys the others alone.", "Total", "57.42 USD"}, false},
		{"an intent is unread", "order-9", func(s *account.Summary) { s.NeverRead = 1 }, []string{"2 items", told, "Total"}, true},
		{"other items are left out", "order-7", func(s *account.Summary) { s.NeverRead = 1 }, []string{"2 of 3 items", told, "Total"}, true},
		{"neither a list nor a relay names the intents", "order-9", func(s *account.Summary) { s.Feed.State, s.List.State = account.FeedOff, account.ListNotServed }, []string{told}, true},
		{"the list is longer than what is read of it", "order-9", func(s *account.Summary) { s.List.State = account.ListCut }, []string{told}, true},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {80, 24}, {44, 20}} {
			synctest.Test(t, func(t *testing.T) {
				s, _ := orderShop()
				other := *s.intent(11, api.AwaitingConfirmation, 11*time.Minute)
				other.ReferenceID = "order-9"
				s.put(&other)
				c.lacking(&s.changes.Summary)
				m := boardOf(t, s, size[0], size[1], func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
				press(m, "O", "i")
				press(m, append(strings.Split(c.reference, ""), "enter", "c")...)
				rest(m)
				got := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(screen(m))), " ")
				if !inOrder(got, c.want...) || strings.Contains(got, told) != c.told || c.told && strings.Contains(got, "the whole order") {
					t.Errorf("%s, %v:\n%s", c.name, size, screen(m))
				}
			})
		}
	}
}

func TestAnOrderIsNotConfirmedUnseenOrWhereNothingAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := orderShop()
		g := &till{}
		m := boardOf(t, s, 80, 24, func(c *Config) { c.Armed, c.Confirmer = true, g })
		for n := range 12 {
			one := *s.intent(20+n, api.AwaitingConfirmation, 41*time.Minute)
			one.ReferenceID = "order-7"
			s.put(&one)
		}
		m.apply(&s.changes)
		press(m, "O", "c")
		rest(m)
		if press(m, "C"); len(g.sent) > 0 || !strings.Contains(screen(m), "See the whole list first") {
			t.Errorf("%d items were confirmed before they were in view:\n%s", len(g.sent), screen(m))
		}
	})
	s, items := orderShop()
	for _, id := range items[:5] {
		s.place(id, api.Completed)
	}
	m := boardOf(t, s, 200, 55, func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
	press(m, "O", "G", "k", "k", "k", "k", "k", "k", "k", "c")
	for range 9 {
		if m.board.headUnder() {
			break
		}
		press(m, "j")
	}
	if press(m, "c"); m.dialog.open() || !strings.Contains(screen(m), "no item of this order awaits confirmation") {
		t.Errorf("an order is offered of which nothing awaits:\n%s", screen(m))
	}
}

func TestReadOnlyConfirmsNoOrder(t *testing.T) {
	s, _ := orderShop()
	m := boardOf(t, s, 160, 45)
	if press(m, "O", "c"); m.dialog.open() || !strings.Contains(screen(m), "read-only") {
		t.Errorf("a read-only board asks:\n%s", screen(m))
	}
}

func TestAnAlertOfAnOrderOpensIt(t *testing.T) {
	s, items := orderShop()
	s.changes.Summary.Alerts = []account.Alert{{Kind: account.AlertOrder, Intent: items[2], Order: "order-7", Text: "order-7 is partly failed", Since: s.now}}
	m := boardOf(t, s, 160, 45)
	press(m, "6", "enter")
	if got := screen(m); !inOrder(got, "ORDER", "order-7", "ITEMS") {
		t.Errorf("enter on the alert does not open the order:\n%s", got)
	}
}

func TestAnOrderMayHaveMoreItemsWhileIntentsAreUnread(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
		s, _ := orderShop()
		m := boardOf(t, s, size[0], size[1])
		press(m, "O")
		for _, c := range []struct {
			name   string
			unread int
			counts bool
		}{{"all are read", 0, false}, {"one is not", 1, true}, {"it was read", 0, false}} {
			s.changes.Summary.NeverRead = c.unread
			m.apply(&s.changes)
			got := screen(m)
			if complete := regexp.MustCompile(`order-8 +(· 2 items|\(2\)).* 268.95 USD`).MatchString(got); complete == c.counts {
				t.Errorf("%d columns, %s: the head says\n%s", size[0], c.name, got)
			}
			if strings.Contains(got, "≥268.95 USD") != c.counts || strings.Contains(got, "(≥2)") != c.counts && strings.Contains(got, "≥2 items") != c.counts {
				t.Errorf("%d columns, %s: the head says\n%s", size[0], c.name, got)
			}
			press(m, "enter")
			if got := screen(m); strings.Contains(got, "items may be missing") != c.counts || strings.Contains(got, "≥3 items: ") != c.counts || strings.Contains(got, "≥57.42 USD") != c.counts {
				t.Errorf("%d columns, %s: the detail says\n%s", size[0], c.name, got)
			}
			press(m, "esc")
		}
	}
}

func TestASumOfWhichMoreIsUnknownIsMarkedOnce(t *testing.T) {
	s, items := orderShop()
	unpriced := *s.changes.Intents[slices.IndexFunc(s.changes.Intents, func(in *account.Intent) bool { return in.ID == items[0] })]
	unpriced.Total = nil
	s.touch(func() { s.put(&unpriced) })
	for _, unread := range []int{0, 1} {
		s.changes.Summary.NeverRead = unread
		m := boardOf(t, s, 160, 45)
		press(m, "O")
		if got := screen(m); !strings.Contains(got, "≥") || strings.Contains(got, "≥≥") || strings.Contains(got, "≥ ") {
			t.Errorf("%d unread:\n%s", unread, got)
		}
	}
}

func TestAnOpenOrderFollowsItsItems(t *testing.T) {
	s, items := orderShop()
	m := boardOf(t, s, 160, 45)
	press(m, "O", "enter")
	s.place(items[0], api.Completed)
	m.apply(&s.changes)
	if got := screen(m); !strings.Contains(got, "1 awaiting, 1 completed, 1 failed") {
		t.Errorf("the detail stays behind:\n%s", got)
	}
}
