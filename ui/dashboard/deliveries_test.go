package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/ui/dashboard/layout"
)

// sent are deliveries that a test makes.
type sent struct {
	*delivery.Log
	again   []api.ID // asked for
	refused error
}

func (s *sent) sendAgain(_ context.Context, id api.ID) error {
	s.again = append(s.again, id)
	return s.refused
}

// typicalDeliveries are deliveries to two targets: taken, refused, unanswered.
func typicalDeliveries(s *shop) *sent {
	log := &sent{Log: delivery.NewLog(100)}
	at := func(ago time.Duration) time.Time { return s.now.Add(-ago) }
	put := func(n int, kind api.EventType, d delivery.Delivery) {
		d.ID, d.Event = api.ScrubID(fmt.Sprintf("we_1-d%d", n)), api.ScrubID("evt_"+string(s.id(n))+"_x")
		d.Type, d.Source, d.Since = kind, s.id(n), at(time.Duration(60-n)*time.Second)
		d.Target = "http://127.0.0.1:3000/webhooks"
		if n%4 == 3 {
			d.Target = "https://staging.shop.example/hooks/checkout"
		}
		if d.Attempts > 0 && d.Sent.IsZero() {
			d.Sent = d.Since
		}
		d.Request = delivery.Message{
			Header: http.Header{"Content-Type": {"application/json"}, "x-svc-event-id": {string(d.Event)}, "x-svc-signature": {"v0=16abb10adb33ff9c"}, "Authorization": {"Bearer tok_live_1"}},
			Body:   []byte(fmt.Sprintf(`{"id":%q,"type":%q,"data":{"buyer":{"firstName":"Ann"},"total":1290}}`, d.Event, kind)),
		}
		log.Put(d)
	}
	taken := delivery.Delivery{State: delivery.Delivered, Attempts: 1, Status: 200, Took: 4 * time.Millisecond}
	for n := range 8 {
		put(n, api.OfferRetrieved, taken)
	}
	put(8, api.OrderFailed, delivery.Delivery{State: delivery.Dead, Attempts: 7, Status: 500, Took: 31 * time.Millisecond, Error: "answered 500 with no; want 200", Answer: delivery.Message{
		Header: http.Header{"Content-Type": {"text/html"}, "Set-Cookie": {"session=tok_live_1"}, "X-Trace": {"evil\x1b[2J"}}, Body: []byte("<h1>Internal\x1b[31m error</h1>\n<p>no such order</p>\n")}})
	put(9, api.IntentCompleted, delivery.Delivery{State: delivery.Waiting, Attempts: 3, Error: "no answer: connection refused", Took: time.Millisecond, Next: s.now.Add(10 * time.Second)})
	put(10, api.ShipmentCreated, delivery.Delivery{State: delivery.Lost})
	put(11, api.IntentCompleted, delivery.Delivery{State: delivery.Delivered, Attempts: 2, Status: 200, Took: 1240 * time.Millisecond,
		Answer: delivery.Message{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"ok":true,"email":"ann@example.com"}`)}})
	put(12, api.OfferRetrieved, delivery.Delivery{State: delivery.Sending, Attempts: 1, Sent: s.now})
	return log
}

// delivering is a board with deliveries.
func delivering(t testing.TB, s *shop, width, height int, change ...func(*Config)) (*Model, *sent) {
	log := typicalDeliveries(s)
	m := boardOf(t, s, width, height, append(change, func(c *Config) { c.Deliveries, c.SendAgain = log.Log, log.sendAgain })...)
	all, _ := log.Since(0)
	m.Update(deliveriesMsg(all))
	return m, log
}

func TestDeliveriesLookAsTheyShould(t *testing.T) {
	cases := []struct {
		name string
		keys []string
	}{
		{"deliveries", []string{"8"}},
		{"beside events", []string{"4"}},
		{"zoomed", []string{"8", "z"}},
		{"one", []string{"8", "k", "k", "k", "k", "enter"}},
	}
	for _, size := range [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}, {40, 12}} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				var text, colours string
				synctest.Test(t, func(t *testing.T) {
					s := typicalShop(time.Now())
					m, _ := delivering(t, s, size[0], size[1])
					m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
					press(m, c.keys...)
					text, colours = screen(m), styles(m)
					plain, _ := delivering(t, s, size[0], size[1], func(c *Config) { c.NoColor = true })
					if press(plain, c.keys...); screen(plain) != text {
						t.Errorf("without colours it is another picture:\n%s", screen(plain))
					}
				})
				golden.RequireEqual(t, text)
				t.Run("colours", func(t *testing.T) { golden.RequireEqual(t, colours) })
			})
		}
	}
}

func TestADeliveryShowsBothSidesAndNoSecret(t *testing.T) {
	m, _ := delivering(t, typicalShop(time.Now()), 160, 70)
	press(m, "8", "k", "k", "k", "k", "enter")
	got := screen(m)
	for _, want := range []string{"DELIVERY", "✕ dead", "127.0.0.1:3000/webhooks", "500 in 31ms", "ANSWER 500 Internal Server Error", "<p>no such order</p>",
		"REQUEST", "x-svc-signature: v0=16abb10adb33ff9c", "Authorization: [redacted]", "Set-Cookie: [redacted]", `"firstName": "[masked]"`, "W sends it again"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, never := range []string{"tok_live_1", "Ann", "\x1b[2J", "\x1b[31m error"} {
		if strings.Contains(drawing(m), never) {
			t.Errorf("%q is shown", never)
		}
	}
}

func TestADeliveryIsSentAgainByAKey(t *testing.T) {
	cases := []struct {
		name    string
		keys    []string
		refused error
		want    string // on the line of notices
		asked   api.ID
	}{
		{"from its row", []string{"8", "k", "k", "k", "k", "W"}, nil, "sending evt_ci_.* again, to 127.0.0.1:3000/webhooks", "we_1-d8"},
		{"from its detail", []string{"8", "k", "k", "k", "k", "enter", "W"}, nil, "sending evt_ci_.* again", "we_1-d8"},
		{"refused", []string{"8", "k", "W"}, errors.New("its endpoint is away"), "not sent again: its endpoint is away", "we_1-d11"},
		{"not while it is sent", []string{"8", "W"}, nil, "an attempt is running: wait for its answer", ""},
		{"not from an event", []string{"4", "W"}, nil, "no delivery under the cursor", ""},
		{"not from an intent", []string{"1", "W"}, nil, "no delivery under the cursor", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, log := delivering(t, typicalShop(time.Now()), 120, 36)
			log.refused = c.refused
			if cmd := press(m, c.keys...); cmd != nil {
				if msg := cmd(); msg != nil {
					m.Update(msg)
				}
			}
			if notice := strings.Split(screen(m), "\n")[1]; !regexp.MustCompile(c.want).MatchString(notice) {
				t.Errorf("the notice is %q, want %q", notice, c.want)
			}
			if got := fmt.Sprint(log.again); got != fmt.Sprint(wanted(c.asked)) {
				t.Errorf("sent again: %s, want %q", got, c.asked)
			}
		})
	}
}

func TestTheCursorStaysOnADeliveryThatWasChosen(t *testing.T) {
	for _, keys := range [][]string{{"8", "W"}, {"8", "enter", "esc", "W"}, {"8", "enter", "W", "esc"}} {
		t.Run(strings.Join(keys, " "), func(t *testing.T) {
			m, log := delivering(t, typicalShop(time.Now()), 120, 36)
			newest := func(n int) {
				d := delivery.Delivery{ID: api.ScrubID(fmt.Sprintf("we_1-d%d", n)), Event: "evt_x", Type: api.ShipmentUpdated, State: delivery.Delivered, Since: time.Now().Add(time.Hour + time.Duration(n)*time.Second), Attempts: 1, Status: 200}
				m.Update(deliveriesMsg{&d})
			}
			newest(20)
			for i, key := range append(keys, "W") {
				if cmd := press(m, key); key == "W" && cmd != nil {
					cmd()
				}
				if i > 0 {
					newest(20 + i)
				}
			}
			if got := fmt.Sprint(log.again); got != "[we_1-d20 we_1-d20]" {
				t.Errorf("sent again: %s", got)
			}
		})
	}
}

func TestWhatCameOfSendingAgainIsShownThoughItsRowHasLeft(t *testing.T) {
	for _, c := range []struct {
		name, want string
		answer     delivery.Delivery
		left       int // rows of the filter
	}{
		{"taken", "✓ evt_ci_.* was sent again, and accepted", delivery.Delivery{State: delivery.Delivered, Status: 200}, 0},
		{"refused", "! evt_ci_.* was sent again, but not accepted: the answer was 503", delivery.Delivery{State: delivery.Dead, Status: 503}, 1},
		{"away", "! evt_ci_.* was sent again, but not accepted: connection refused", delivery.Delivery{State: delivery.Dead, Error: "connection refused"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, log := delivering(t, typicalShop(time.Now()), 120, 36)
			press(m, "8", "/")
			for _, letter := range "state:dead" {
				press(m, string(letter))
			}
			press(m, "enter")
			if cmd := press(m, "W"); cmd != nil {
				cmd()
			}
			of, ok := log.Find("we_1-d8")
			if !ok || fmt.Sprint(log.again) != "[we_1-d8]" {
				t.Fatalf("sent again: %v", log.again)
			}
			sending, answered := *of, *of
			sending.State, sending.Attempts = delivery.Sending, of.Attempts+1
			answered.State, answered.Status, answered.Error, answered.Attempts = c.answer.State, c.answer.Status, c.answer.Error, of.Attempts+1
			m.Update(deliveriesMsg{&sending})
			m.Update(deliveriesMsg{&answered})
			if notice := strings.Split(screen(m), "\n")[1]; !regexp.MustCompile(c.want).MatchString(notice) {
				t.Errorf("the notice is %q, want %q", notice, c.want)
			}
			if press(m, "W"); len(log.again) != 1 && c.left == 0 {
				t.Errorf("another one was sent again: %v", log.again)
			}
			lines := strings.Split(strings.TrimRight(screen(m), "\n"), "\n")
			if footer := lines[len(lines)-1]; !strings.Contains(footer, "enter open") || !strings.Contains(footer, "W send again") {
				t.Errorf("the footer is %q", footer)
			}
		})
	}
}

func wanted(id api.ID) []api.ID {
	if id == "" {
		return nil
	}
	return []api.ID{id}
}

func TestWithoutASourceThereAreNoDeliveries(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	if strings.Contains(screen(m), "DELIVERIES") {
		t.Error("the tab is there")
	}
	for _, key := range []string{"8", "W"} {
		press(m, "4", key)
		if notice := strings.Split(screen(m), "\n")[1]; !strings.Contains(notice, "there are no deliveries here") || m.board.focus != layout.Events {
			t.Errorf("%s: the focus is on %s, the notice %q", key, m.board.focus, notice)
		}
	}
	press(m, "4", "l", "l", "l", "l")
	if m.board.focus != layout.Alerts {
		t.Errorf("the last tab is %s", m.board.focus)
	}
	press(m, ":")
	write(m, "go deliveries")
	press(m, "enter")
	if strings.Contains(screen(m), "DELIVERIES") {
		t.Errorf("the palette goes there:\n%s", screen(m))
	}
}

// deliver has a delivery change, or begin.
func (k *monkey) deliver(log *sent) {
	t := k.t
	_, seen := log.Since(0)
	d := delivery.Delivery{
		ID: api.ScrubID(fmt.Sprintf("we_1-d%d", rapid.IntRange(0, 60).Draw(t, "number"))), Event: api.ScrubID(k.text("event")), Source: k.someID(t),
		Type: rapid.SampledFrom(append(api.EventTypes(), "wei\x1brd.type")).Draw(t, "type"), Target: api.Scrub("http://" + k.text("target")),
		State: rapid.SampledFrom(append(delivery.States(), "wei\x1brd")).Draw(t, "state"), Attempts: rapid.IntRange(0, 12).Draw(t, "attempts"),
		Since: time.Now().Add(-time.Duration(rapid.IntRange(-9, 4000).Draw(t, "since")) * time.Second), Status: rapid.SampledFrom([]int{0, 200, 204, 500, 99999}).Draw(t, "status"),
		Error: api.Scrub(k.text("error")), Took: time.Duration(rapid.Int64Range(-1, 1<<40).Draw(t, "took")), Next: time.Now().Add(time.Minute),
		Request: delivery.Message{Header: http.Header{"X-" + k.text("name"): {k.text("value")}}, Body: []byte(`{"id":"` + k.text("body") + `"}`)},
		Answer:  delivery.Message{Header: http.Header{"Content-Type": {k.text("kind")}}, Body: []byte(k.text("answer"))},
	}
	log.refused = k.trouble(t)
	log.Put(d)
	changed, _ := log.Since(seen)
	k.handle(deliveriesMsg(changed))
}

func TestDeliveriesAreATabBesideTheAlerts(t *testing.T) {
	m, _ := delivering(t, typicalShop(time.Now()), 160, 45)
	press(m, "4", "l", "l", "l")
	if m.board.focus != layout.Deliveries {
		t.Errorf("the fourth tab is %s", m.board.focus)
	}
	press(m, "l", "h")
	if m.board.focus != layout.Alerts {
		t.Errorf("left of it is %s", m.board.focus)
	}
	r := m.board.layout.Panes[layout.Alerts]
	x := strings.Index(strings.Split(screen(m), "\n")[r.Y], "DELIVERIES")
	m.Update(tea.MouseClickMsg{X: x + 2, Y: r.Y, Button: tea.MouseLeft})
	if m.board.focus != layout.Deliveries {
		t.Errorf("a click on its name leads to %s", m.board.focus)
	}
}

func TestDeliveriesAreFilteredAndSorted(t *testing.T) {
	cases := []struct {
		filter string
		want   string // found
	}{
		{"state:dead", "1 of 13"}, {"state:delivered,lost", "10 of 13"}, {"status:200", "9 of 13"}, {"target:staging", "3 of 13"},
		{"type:offer", "9 of 13"}, {"attempts>1", "3 of 13"}, {"latency>1s", "1 of 13"}, {"age>55s", "5 of 13"}, {"refused", "1 of 13"}, {"product:mug", "1 of 13"},
	}
	for _, c := range cases {
		t.Run(c.filter, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := delivering(t, typicalShop(time.Now()), 160, 45)
				press(m, "8", "/")
				write(m, c.filter)
				press(m, "enter")
				if got := screen(m); !strings.Contains(got, "/ "+c.filter+"  "+c.want) {
					t.Errorf("not %s:\n%s", c.want, got)
				}
			})
		})
	}
	m, _ := delivering(t, typicalShop(time.Now()), 160, 45)
	press(m, "8", "s", "s", "s", "s", "s", "g")
	if got := screen(m); !strings.Contains(got, "by attempts ↓") || !regexp.MustCompile(`▌\S+\s+✕ dead`).MatchString(got) {
		t.Errorf("not sorted by attempts:\n%s", got)
	}
}

func TestAFrozenScreenTakesDeliveriesOverLater(t *testing.T) {
	m, log := delivering(t, typicalShop(time.Now()), 160, 45)
	press(m, "8", "space")
	before := strings.Split(screen(m), "\n")[m.board.layout.Panes[layout.Deliveries].Y:]
	_, seen := log.Since(0)
	d, _ := log.Find("we_1-d8")
	d2 := *d
	d2.State = delivery.Delivered
	log.Put(d2)
	changed, _ := log.Since(seen)
	m.Update(deliveriesMsg(changed))
	if got := strings.Split(screen(m), "\n")[m.board.layout.Panes[layout.Deliveries].Y:]; strings.Join(got, "\n") != strings.Join(before, "\n") {
		t.Errorf("the frozen pane has changed:\n%s", strings.Join(got, "\n"))
	}
	press(m, "space")
	if got := screen(m); strings.Contains(got, "✕ dead") {
		t.Errorf("what changed meanwhile is not shown:\n%s", got)
	}
}

func TestDeliveriesAreGatheredForAFrameAndNothingComesAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &sent{Log: delivery.NewLog(1000)}
		ctx, cancel := context.WithCancel(t.Context())
		var got, messages int
		done := make(chan struct{})
		go func() {
			defer close(done)
			pumpDeliveries(ctx, log.Log, func(msg deliveriesMsg) { got, messages = got+len(msg), messages+1 })
		}()
		for n := range 500 {
			log.Put(delivery.Delivery{ID: api.ScrubID(fmt.Sprint(n))})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got != 500 || messages > 6 {
			t.Errorf("%d deliveries in %d messages", got, messages)
		}
		cancel()
		<-done
	})
}

func TestTargetsThatBeginAlikeCanBeToldApart(t *testing.T) {
	const shared = "https://staging.shop.example/hooks/"
	for _, c := range []struct {
		name, target, other, want string
	}{
		{"one that fits", "http://127.0.0.1:3000/w", "http://127.0.0.1:3000/x", " 127.0.0.1:3000/w "},
		{"alone", shared + "checkout", shared + "checkout", " https://staging…"},
		{"beside another of the same beginning", shared + "checkout-and-more", shared + "shipments", " …checkout-and-m…"},
		{"with a short end", shared + "a", shared + "b", " …example/hooks/a "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			log := &sent{Log: delivery.NewLog(100)}
			for i, target := range []string{c.other, c.target} {
				log.Put(delivery.Delivery{ID: api.ID(fmt.Sprint("we_", i)), Target: api.Text(target), Type: api.OfferRetrieved, Since: s.now, State: delivery.Delivered, Attempts: 1, Status: 200})
			}
			m := boardOf(t, s, 80, 24, func(cfg *Config) { cfg.Deliveries = log.Log })
			all, _ := log.Since(0)
			m.Update(deliveriesMsg(all))
			press(m, "8")
			if got := screen(m); !strings.Contains(got, c.want) {
				t.Errorf("no %q in:\n%s", c.want, got)
			}
		})
	}
}
