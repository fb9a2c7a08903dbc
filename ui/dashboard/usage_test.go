package dashboard

import (
	"strings"
	"testing"
	"time"
)

func TestTheUseOfTheQuotaLooksAsItShould(t *testing.T) {
	looksAsItShould(t, everySize, spentShop, []sight{
		{"seconds", []string{"u"}},
		{"minutes", []string{"u", "w", "j", "j"}},
		{"hours", []string{"u", "w", "w", "b", "b", "b"}},
		{"sorted", []string{"u", "j", "s", "s"}},
		{"requests", []string{"u", "w", "enter"}},
	})
}

func TestTheQuotaOfTheBoardKeepsTheFocusWhenItsZoomEnds(t *testing.T) {
	for _, keys := range [][]string{{"z", "z"}, {"z", "esc"}, {"z", "u"}, {"u", "u"}, {"u", "esc"}} {
		m := boardOf(t, spentShop(time.Now()), 120, 36)
		press(m, "2", "3")
		press(m, keys...)
		if got := screen(m); !strings.Contains(got, "INTENTS") || !strings.Contains(got, "▌QUOTA") {
			t.Errorf("after %v another pane has the focus:\n%s", keys, got)
		}
	}
}

func TestEnterOnASpenderShowsItsRequests(t *testing.T) {
	m := boardOf(t, spentShop(time.Now()), 120, 36)
	press(m, "u", "w", "enter")
	if got := screen(m); !strings.Contains(got, `/ by="checkout-worker"`) || !strings.Contains(got, "6 of 30") {
		t.Errorf("enter does not show the requests of the spender:\n%s", got)
	}
	press(m, "u", "j", "enter")
	if got := screen(m); !strings.Contains(got, `endpoint="GET /api/v1/checkout-intents/{id}"`) || !strings.Contains(got, "6 of 30") {
		t.Errorf("enter does not show the requests of the endpoint:\n%s", got)
	}
	press(m, "u", "g")
	for range 30 {
		if strings.Contains(screen(m), "▌░") {
			break
		}
		press(m, "j")
	}
	if press(m, "enter"); !strings.Contains(screen(m), "no proxy saw these requests") {
		t.Errorf("nothing says that nobody saw the rest:\n%s", screen(m))
	}
}

func TestAChartIsAskedForOnlyWhereThereIsOne(t *testing.T) {
	m := boardOf(t, spentShop(time.Now()), 120, 36)
	for _, key := range []string{"w", "b"} {
		if press(m, key); !strings.Contains(screen(m), "no chart is on the screen: u shows the use of the quota") {
			t.Errorf("%s without a chart:\n%s", key, screen(m))
		}
	}
	m = boardOf(t, spentShop(time.Now()), 200, 55)
	if press(m, "u", "b"); !strings.Contains(screen(m), "all charts are on the screen") {
		t.Errorf("b where all are:\n%s", screen(m))
	}
	m = boardOf(t, spentShop(time.Now()), 80, 24)
	press(m, "u")
	for _, title := range []string{"mutations a second", "lookup a second", "left of the day's intents", "agents at work", "reads a second"} {
		if press(m, "b"); !strings.Contains(screen(m), title) {
			t.Errorf("no chart of %s:\n%s", title, screen(m))
		}
	}
	press(m, "esc", "5", "s")
	if got := screen(m); !strings.Contains(got, "by latency ↑") {
		t.Errorf("requests are not sorted by what they took first:\n%s", got)
	}
}

func TestASpenderWhoseRequestsAreNotKeptLeadsNowhere(t *testing.T) {
	m := boardOf(t, spentShop(time.Now()), 160, 45)
	press(m, "u")
	for range 30 {
		if strings.Contains(screen(m), "▌▒ report job") {
			break
		}
		press(m, "j")
	}
	press(m, "enter")
	if got := screen(m); !strings.Contains(got, "its requests are not kept: they are from an earlier run, or too old") || !strings.Contains(got, "SPENDERS") {
		t.Errorf("enter does not say why there are no requests:\n%s", got)
	}
}
