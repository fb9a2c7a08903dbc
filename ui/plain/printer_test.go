package plain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"go.uber.org/goleak"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a picture that is printed while a test changes it.
type stage struct {
	t     *testing.T
	store *account.Store
	seq   int64
}

func (s *stage) pass(d time.Duration) {
	time.Sleep(d) // the clock of the bubble
	synctest.Wait()
}

func (s *stage) event(kind api.EventType, of api.SourceType, id api.ID) {
	s.seq++
	s.store.ApplyEvents([]account.Delivery{{
		Seq: s.seq, Origin: "webhook", Received: time.Now(),
		Event: api.Event{ID: api.ScrubID("evt" + string(id) + string(kind)), Type: kind,
			Source: api.EventSource{ID: id, Type: of}, CreatedAt: time.Now()},
	}}, time.Now())

	s.pass(time.Second)
}

func (s *stage) read(body string) {
	s.t.Helper()
	in, err := api.DecodeIntent([]byte(body))
	if err != nil {
		s.t.Fatal(err)
	}
	s.store.ApplyRead(in, time.Now(), account.ByRead)
	s.pass(time.Second)
}

func (s *stage) shipment(sh api.Shipment) {
	sh.UpdatedAt = time.Now()
	s.store.ApplyShipments([]api.Shipment{sh}, time.Now())
	s.pass(time.Second)
}

func (s *stage) feed(status account.FeedStatus) {
	status.Since = time.Now()
	s.store.SetFeed(status)
	s.pass(time.Second)
}

// told runs a play in a bubble and returns what was printed.
func told(t *testing.T, before, play func(s *stage)) string {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, store: account.NewStore(account.StoreConfig{})}
		before(s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Config{Source: s.store, Environment: "simulator", Account: "shop.example",
				Location: time.UTC}, &out)
		}()
		s.pass(time.Second)
		play(s)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

const awaiting = `{"id":"ci_1","state":"awaiting_confirmation","productUrl":"https://acme.example/p/wool-socks","quantity":2,` +
	`"createdAt":"2000-01-01T00:00:00Z","offer":{"cost":{"total":{"currencyCode":"USD","amountSubunits":4452}}}}`

func TestWhereAnswersComeFromIsALine(t *testing.T) {
	answer := func(s *stage, from api.Environment) {
		s.store.RecordExchange(api.Exchange{Status: 200, From: from})
		s.pass(time.Second)
	}
	out := told(t, func(*stage) {}, func(s *stage) {
		answer(s, api.Environment{Name: "simulator", StandIn: true}) // as was said at the start
		answer(s, api.Environment{Name: "127.0.0.1:7420", Live: true})
		answer(s, api.Environment{Name: "127.0.0.1:7420", Live: true})
		answer(s, api.Environment{Name: "simulator", StandIn: true})
	})
	want := []string{"watching simulator shop.example", "environment 127.0.0.1:7420, real money",
		"environment simulator, no real money"}
	at := 0
	for line := range strings.Lines(out) {
		if _, said, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(said, "watching") ||
			strings.HasPrefix(said, "environment") {
			if at == len(want) || said != want[at] {
				t.Fatalf("line %d is %q; want %q of\n%s", at, said, want, out)
			}
			at++
		}
	}
	if at != len(want) {
		t.Errorf("%d lines, want %q of\n%s", at, want, out)
	}
}

func TestEachChangeIsALine(t *testing.T) {
	out := told(t, func(*stage) {}, func(s *stage) {
		s.feed(account.FeedStatus{State: account.FeedConnecting})
		s.feed(account.FeedStatus{State: account.FeedReplaying, Head: 12, Cursor: 4})
		s.feed(account.FeedStatus{State: account.FeedLive, Head: 12, Cursor: 12})
		s.store.RecordExchange(api.Exchange{Status: 200, Latency: 40 * time.Millisecond})
		s.pass(time.Second)
		s.event(api.OfferRetrieved, api.SourceIntent, "ci_1")
		s.read(awaiting)
		s.read(awaiting) // nothing new
		s.read(strings.Replace(awaiting, "awaiting_confirmation", "placing_order", 1))
		s.event(api.IntentCompleted, api.SourceIntent, "ci_1")
		s.event(api.ShipmentCreated, api.SourceShipment, "sh_1")
		s.shipment(api.Shipment{ID: "sh_1", IntentID: "ci_1", Status: api.Shipped, Tracking: &api.Tracking{
			Carrier: "DHL", Number: "00340434", Estimated: time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC),
		}})
		s.shipment(api.Shipment{ID: "sh_1", IntentID: "ci_1", Status: api.Delivered,
			Tracking: &api.Tracking{Carrier: "DHL", Number: "00340434"}})
		s.event(api.ProductRemoved, api.SourceProduct, "acme:socks")
		s.read(`{"id":"ci_2","state":"failed","failureReason":{"code":"product_out_of_stock","message":"sold"}}`)
		s.store.ApplyMissing("ci_3", time.Now())
		s.pass(time.Second)
		s.read(`{"id":"ci_4","state":"awaiting_refund"}`)
		for range 3 {
			s.store.RecordExchange(api.Exchange{Err: errors.New("connection refused")})
		}
		s.pass(time.Second)
		s.store.RecordExchange(api.Exchange{Status: 200})
		s.pass(time.Second)
		s.feed(account.FeedStatus{State: account.FeedLost, Err: errors.New("read: connection reset")})
		s.feed(account.FeedStatus{State: account.FeedRefused, Err: errors.New("unauthorized")})
		s.pass(24 * time.Hour)
		s.feed(account.FeedStatus{State: account.FeedLive, Head: 14, Cursor: 14})
	})
	golden.RequireEqual(t, []byte(out))
}

func TestTheFirstPictureIsASumAndWhatWaits(t *testing.T) {
	out := told(t, func(s *stage) {
		s.read(awaiting)
		s.read(`{"id":"ci_2","state":"completed"}`)
		s.read(`{"id":"ci_3","state":"retrieving_offer"}`)
		s.shipment(api.Shipment{ID: "sh_1", IntentID: "ci_2", Status: api.Shipped})
		s.event(api.ProductRemoved, api.SourceProduct, "acme:socks")
	}, func(s *stage) {
		s.read(`{"id":"ci_3","state":"failed"}`)
	})
	golden.RequireEqual(t, []byte(out))
}

func TestALineIsALineWhateverTheRemoteTextHolds(t *testing.T) {
	out := told(t, func(*stage) {}, func(s *stage) {
		s.read(`{"id":"ci\n\u001b[2J1","state":"awaiting_confirmation","productUrl":"https://x.example/a\r\u202eb\u001b]0;x\u0007","quantity":1}`)
		s.read(`{"id":"ci_2","state":"fai\u009b31mled\nx"}`)
		s.feed(account.FeedStatus{State: account.FeedLost, Err: errors.New("bad\r\n\x1b]52;c;aGk=\x07 handshake")})
		s.event("odd.\u001b[31mkind\n", "product", "a\nb")
	})
	for line := range strings.Lines(out) {
		text := strings.TrimSuffix(line, "\n")
		if string(api.Scrub(text)) != text {
			t.Errorf("a control reaches the terminal: %q", text)
		}
		if !strings.HasPrefix(text, "00:00:0") {
			t.Errorf("a line without its time: %q", text)
		}
	}
	if n := strings.Count(out, "\n"); n < 8 {
		t.Errorf("only %d lines:\n%s", n, out)
	}
}

type brokenPipe struct{ io.Writer }

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAReaderThatIsGoneEndsTheTelling(t *testing.T) {
	err := Run(t.Context(), Config{Source: account.NewStore(account.StoreConfig{})}, brokenPipe{})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("err = %v", err)
	}
}

func TestAnAlertSaysByWhenItComesAbout(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		due  time.Time
		want string
	}{
		{"no such moment", time.Time{}, "12:00:00 alert raised: the day's intents are used up: the first is back"},
		{"within a day", now.Add(14 * time.Hour), "12:00:00 alert raised: the day's intents are used up: the first " +
			"is back by 02:00:00"},
		{"later", now.Add(26 * time.Hour), "12:00:00 alert raised: the day's intents are used up: the first is back " +
			"by 2026-06-19 14:00:00"},
	} {
		alert := account.Alert{Kind: account.AlertDay, Text: "the day's intents are used up: the first is back",
			Since: now, Due: c.due}
		lines := newPrinter(Config{Location: time.UTC}).changes(&account.Changes{At: now,
			Summary: account.Summary{Alerts: []account.Alert{alert}}})
		if last := lines[len(lines)-1]; last != c.want {
			t.Errorf("%s: %q, want %q", c.name, last, c.want)
		}
	}
}

func TestAWindowSaysTheDayOnWhichItCloses(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		ends time.Time
		want string
	}{
		{"within a day", now.Add(45 * time.Minute), "confirm by 12:45:00"},
		{"later", now.Add(72 * time.Hour), "confirm by 2026-06-21 12:00:00"},
	} {
		told := newPrinter(Config{Location: time.UTC}).changes(&account.Changes{At: now, Intents: []*account.Intent{
			{ID: "ci_1", State: api.AwaitingConfirmation, ExpiresAt: c.ends},
		}})
		if got := strings.Join(told, "\n"); !strings.HasSuffix(got, c.want+" (intent ci_1)") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnAlertThatStandsWithOtherWordsIsNotRaisedAgain(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	printer := newPrinter(Config{Location: time.UTC})
	var last string
	for _, text := range []string{"ci_1 expires unless it is confirmed", "ci_1: its confirm window has closed"} {
		alert := account.Alert{Kind: account.AlertExpiring, Intent: "ci_1", Text: text, Since: now}
		lines := printer.changes(&account.Changes{At: now, Summary: account.Summary{Alerts: []account.Alert{alert}}})
		last = strings.Join(lines, "\n")
	}
	if want := "12:00:00 alert now: ci_1: its confirm window has closed"; last != want {
		t.Errorf("%q, want %q", last, want)
	}
}

func TestCountsArePrintedOnceTheyAreKnown(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	printer := newPrinter(Config{Environment: "staging", Location: time.UTC})
	said := func(s account.Summary) string {
		return strings.Join(printer.changes(&account.Changes{At: now, Summary: s}), "\n")
	}
	if got := said(account.Summary{API: account.APIStatus{State: account.APIUnauthorized}}); strings.Contains(got,
		"intents") || strings.Contains(got, "shipments") {
		t.Errorf("it counts what nobody has read:\n%s", got)
	}
	read := account.Summary{List: account.ListStatus{State: account.ListWhole},
		ShipmentList: account.ListStatus{State: account.ListWhole},
		Intents:      map[api.IntentState]int{api.Completed: 1042}}
	const sum = "12:00:00 intents: 0 retrieving offer, 0 awaiting confirmation, 0 placing order, 1,042 completed, 0 " +
		"failed\n12:00:00 shipments: 0"
	if got := said(read); !strings.Contains(got, sum) {
		t.Errorf("once all is read:\n%s", got)
	}
	if got := said(read); got != "" {
		t.Errorf("it is printed again:\n%s", got)
	}
}

func TestShipmentsThatTheKeyMayNotReadAreALineOnce(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	printer := newPrinter(Config{Environment: "staging", Location: time.UTC})
	said := func(list account.ListState) string {
		s := account.Summary{List: account.ListStatus{State: account.ListWhole},
			ShipmentList: account.ListStatus{State: list}}
		return strings.Join(printer.changes(&account.Changes{At: now, Summary: s}), "\n")
	}
	const forbidden = "12:00:00 shipments are unknown: the API key may not read them"
	if got := said(account.ListForbidden); !strings.Contains(got, forbidden) {
		t.Errorf("at first:\n%s", got)
	}
	for _, step := range []struct {
		list account.ListState
		want string
	}{{account.ListForbidden, ""}, {account.ListUnread, ""}, {account.ListWhole,
		"12:00:00 shipments: 0"}, {account.ListForbidden, forbidden}} {
		if got := said(step.list); got != step.want {
			t.Errorf("%v: %q, want %q", step.list, got, step.want)
		}
	}
}

func TestASavedPictureIsCountedAsFarAsItIsKnown(t *testing.T) {
	lines := newPrinter(Config{Location: time.UTC}).changes(&account.Changes{Summary: account.Summary{Intents: map[api.IntentState]int{api.Failed: 2}, NotRead: 1}})
	if got := strings.Join(lines, "\n"); !strings.Contains(got, "intents: 2 failed, 1 of unknown state") {
		t.Errorf("a state without any is unknown:\n%s", got)
	}
}

func TestHowAConfirmInDoubtEndedIsALineOnce(t *testing.T) {
	p := newPrinter(Config{Location: time.UTC})
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	c := account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Total: "12.90 USD", Sent: at, Answered: at}
	var lines []string
	for _, end := range []account.ConfirmEnd{"", account.ConfirmNotDone, account.ConfirmNotDone} {
		one := c
		if one.End = end; end != "" {
			one.Ended = at.Add(4 * time.Minute)
		}
		lines = append(lines, p.changes(&account.Changes{At: at.Add(5 * time.Minute),
			Summary: account.Summary{Confirms: []*account.Confirm{&one}}})...)
	}
	const want = "12:05:00 confirm of Mug, 12.90 USD, sent at 12:00:00: its confirm is settled: not taken: nothing " +
		"was bought"
	if n := strings.Count(strings.Join(lines, "\n"), want); n != 1 {
		t.Errorf("it is printed %d times in\n%s", n, strings.Join(lines, "\n"))
	}
}
