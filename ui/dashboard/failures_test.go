package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/wording"
)

// sight is what stands on the screen after some keys.
type sight struct {
	name string
	keys []string
}

// looksAsItShould holds sights of a shop, at each size, against golden files. Without
// colours each is the same picture.
func looksAsItShould(t *testing.T, sizes [][2]int, shop func(time.Time) *shop, sights []sight, before ...func()) {
	for _, size := range sizes {
		for _, c := range sights {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				var text string
				synctest.Test(t, func(t *testing.T) {
					for _, do := range before {
						do()
					}
					m := boardOf(t, shop(time.Now()), size[0], size[1])
					press(m, c.keys...)
					text = screen(m)
					plain := boardOf(t, shop(time.Now()), size[0], size[1], func(c *Config) { c.NoColor = true })
					press(plain, c.keys...)
					if got := screen(plain); got != text {
						t.Errorf("without colours it is another picture:\n%s\nwant\n%s", got, text)
					}
				})
				golden.RequireEqual(t, text)
			})
		}
	}
}

var everySize = [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}}

func TestTheFailuresLookAsTheyShould(t *testing.T) {
	looksAsItShould(t, everySize, typicalShop, []sight{
		{"a day", []string{"F"}},
		{"an hour", []string{"F", "w", "w", "l"}},
		{"by value", []string{"F", "w", "s", "s", "j"}},
		{"a reason", []string{"F", "enter"}},
	})
}

// The job: why does this merchant's checkout fail. From a fresh board it takes six
// keys at most.
func TestWhyAMerchantsCheckoutFails(t *testing.T) {
	cases := []struct {
		name string
		keys []string
		want []string // on the screen, in the end
		list bool     // the keys are those of the list, where there are no lanes
	}{
		{name: "from its row", keys: []string{"f"}, want: []string{`merchant="acme.example": 14 intents, 3 failed; f again shows all`, "14 of 64"}},
		{name: "and on to a reason", keys: []string{"f", "l", "l", "l", "f"}, want: []string{`reason="expired": 2 failed; f again shows all`, "2 of 64"}},
		{name: "and on to a reason", keys: []string{"f", "j", "j", "j", "f"}, want: []string{`reason="expired": 2 failed; f again shows all`, "2 of 64"}, list: true},
		{name: "from the failures by merchant", keys: []string{"F", "right", "enter"}, want: []string{`/ merchant="acme.example" state:failed age<24h`, "3 of 64"}},
		{name: "from the failures by reason", keys: []string{"F", "j", "enter"}, want: []string{`/ reason="expired" age<24h`, "2 of 64"}},
		{name: "of a group, with all that did not fail", keys: []string{"F", "right", "f"}, want: []string{`/ merchant="acme.example"  14 of 64`}},
	}
	for _, size := range everySize {
		for _, c := range cases {
			if lanes := size[0] >= 108; c.list && lanes || !lanes && slices.Contains(c.keys, "l") {
				continue
			}
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				m := boardOf(t, typicalShop(time.Now()), size[0], size[1])
				press(m, c.keys...)
				for _, want := range c.want {
					if got := screen(m); len(c.keys) > 6 || !strings.Contains(strings.ReplaceAll(got, "─", ""), want) {
						t.Errorf("after %d keys no %q in:\n%s", len(c.keys), want, got)
					}
				}
			})
		}
	}
}

func TestTheThirdTimeShowsAllAgain(t *testing.T) {
	for _, pane := range []string{"1", "2", "4"} {
		m := boardOf(t, typicalShop(time.Now()), 160, 45)
		press(m, pane)
		if pane == "1" {
			press(m, "l", "l", "l")
		}
		under, ok := m.board.intentUnder()
		if !ok {
			t.Fatalf("pane %s: no intent is under the cursor", pane)
		}
		var filters []string
		for range 3 {
			press(m, "f")
			in, ok := m.board.intentUnder()
			if m.board.focus != layout.Intents || !ok || in.ID != under.ID {
				t.Errorf("pane %s: the cursor has left %s", pane, under.ID)
			}
			if now := m.filters.inPane[layout.Intents]; now != nil {
				filters = append(filters, now.Text)
			} else {
				filters = append(filters, "")
			}
		}
		want := []string{`merchant="` + string(under.Merchant) + `"`, "", `merchant="` + string(under.Merchant) + `"`}
		if under.Failure != nil {
			want[1], want[2] = `reason="`+wording.Failure(under.Failure)+`"`, ""
		}
		if !slices.Equal(filters, want) {
			t.Errorf("pane %s: %q, want %q", pane, filters, want)
		}
	}
}

func TestTheCursorIsOnWhatAGroupLeadsTo(t *testing.T) {
	for _, size := range everySize {
		m := boardOf(t, typicalShop(time.Now()), size[0], size[1])
		press(m, "F", "right", "enter")
		in, ok := m.board.intentUnder()
		if !ok || in.State != api.Failed || in.Merchant != "acme.example" {
			t.Errorf("%v: the cursor is on %v", size, m.board.subject())
		}
		if press(m, "f"); !strings.Contains(screen(m), "14 of 64") {
			t.Errorf("%v: the group's merchant is not filtered by:\n%s", size, screen(m))
		}
	}
}

func TestARowWithoutAnIntentOrAMerchantSaysSo(t *testing.T) {
	s := typicalShop(time.Now())
	unread := *s.changes.Intents[3]
	unread.Merchant = ""
	s.put(&unread)
	m := boardOf(t, s, 160, 45)
	if press(m, "f"); !strings.Contains(screen(m), "its merchant is not known yet: r reads it") {
		t.Errorf("of an intent that was not read:\n%s", screen(m))
	}
	if press(m, "3", "f"); !strings.Contains(screen(m), "no intent under the cursor") {
		t.Errorf("of a bucket:\n%s", screen(m))
	}
}

func TestTheFailuresFillTheScreenUntilTheyAreLeft(t *testing.T) {
	for _, leave := range []string{"F", "esc", "tab", "1"} {
		m := boardOf(t, typicalShop(time.Now()), 120, 36)
		press(m, "2", "F")
		if got := screen(m); !strings.Contains(got, "BY REASON 4") || strings.Contains(got, "SHIPMENTS") {
			t.Fatalf("F does not show the failures alone:\n%s", got)
		}
		if press(m, "z"); !strings.Contains(screen(m), "this fills the screen already") {
			t.Errorf("z there:\n%s", screen(m))
		}
		press(m, leave)
		want := map[string]layout.Pane{"F": layout.Shipments, "esc": layout.Shipments, "tab": layout.Quota, "1": layout.Intents}[leave]
		if got := screen(m); m.board.focus != want || !strings.Contains(got, "SHIPMENTS") || !strings.Contains(got, "INTENTS") {
			t.Errorf("%s does not lead back to the board:\n%s", leave, got)
		}
	}
}

func TestTheFailuresAreCountedOnceTheIntentsAreKnown(t *testing.T) {
	s := newShop(time.Now())
	s.changes.Summary.Feed = account.FeedStatus{State: account.FeedConnecting}
	m := boardOf(t, s, 120, 36)
	press(m, "F")
	for _, c := range []struct {
		list account.ListState
		want string
	}{{account.ListUnread, "FAILURES – "}, {account.ListWhole, "FAILURES 0 "}} {
		m.Update(changesMsg{account.Changes{Summary: account.Summary{Feed: s.changes.Summary.Feed, List: account.ListStatus{State: c.list}}}})
		if got := screen(m); !strings.Contains(got, c.want) {
			t.Errorf("no %q:\n%s", c.want, got)
		}
	}
}

func TestAnotherRowOfTheReasonBeginsWithItsMerchant(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 160, 45)
	press(m, "l", "l", "l", "f", "f", "j", "f")
	in, _ := m.board.intentUnder()
	if got, want := m.filters.inPane[layout.Intents].Text, `merchant="`+string(in.Merchant)+`"`; got != want {
		t.Errorf("the filter is %s, want %s", got, want)
	}
}
