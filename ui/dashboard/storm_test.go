package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
	"tillwatch/ui/dashboard/action/actiontest"
)

var (
	stormConfirms = flag.Int("storm", 150, "confirms on a board whose service drops, delays, doubles and fails; 1000 take some 8 s")
	stormSeed     = flag.Uint64("storm-seed", 1, "seed of the storm")
)

// mailbox is where the service's webhooks arrive, and the feed of the account.
type mailbox chan account.Delivery

// RoundTrip takes a webhook.
func (b mailbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	event, err := api.DecodeEvent(body)
	if err != nil {
		return nil, err
	}
	b <- account.Delivery{Event: event, Received: time.Now(), Origin: "webhook"}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader([]byte("{}"))), Request: r}, nil
}

// Follow implements [account.Feed].
func (b mailbox) Follow(ctx context.Context, sink account.Sink) error {
	sink.FeedChanged(account.FeedStatus{State: account.FeedLive, Since: time.Now(), Epoch: "one"})
	for seq := int64(1); ; seq++ {
		select {
		case d := <-b:
			d.Seq = seq
			sink.Deliver([]account.Delivery{d}, time.Now())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// storm is a service in a bad way, the account that is watched there, and a board
// that a person sits at.
type storm struct {
	t       *testing.T
	service *simulator.Simulator
	store   *account.Store
	m       *Model
	inbox   chan tea.Msg
	ctx     context.Context
	dice    *rand.Rand

	away   *api.Client    // of somebody else, on another machine
	rival  *confirm.Guard // the same
	rivals sync.WaitGroup

	orders map[string]*stormOrder // by the name of the product
	seen   map[string]stormRow    // lines of the screen
	looks  int                    // at rows that had changed
}

// stormOrder is one intent, with all that was done to it.
type stormOrder struct {
	id      api.ID
	made    time.Time
	doomed  bool
	yeses   int    // that were given to it
	denied  string // the row said so of the last of them: nothing was placed
	rivaled bool
}

const orderPrefix = "Item "

func newBoardInAStorm(t *testing.T, ctx context.Context, seed uint64) *storm {
	key, box := api.NewSecret(stormKey), make(mailbox, 100_000)
	service, err := simulator.New(simulator.Config{
		Key: key, SigningSecret: api.NewSecret("signing-secret-of-the-storm"), WebhookURL: "http://relay.example/webhooks", Transport: box,
		Seed: seed, History: -1, AutoConfirm: -1, FailureShare: -1, Lists: true,
		Timings: simulator.Timings{Placing: 30 * time.Second},
		Limits:  simulator.Limits{PerDay: -1, Agents: -1, Mutations: 5, Reads: 40},
		// The contract shows no such keys: the service may know them or not.
		IgnoreIdempotencyKeys: seed%2 == 1,
		Faults: simulator.Faults{Errors: 0.15, Drop: 0.15, Twice: 0.15, Late: 0.2, LateBy: 150 * time.Second,
			Duplicate: 0.2, Reorder: 0.2, Lose: 0.1},
	})
	if err != nil {
		t.Fatal(err)
	}
	pacer := quota.NewPacer(quota.PacerConfig{Share: 0.5})
	store := account.NewStore(account.StoreConfig{Quota: pacer.Buckets, AgentsLimit: 1000})
	s := &storm{
		t: t, service: service, store: store, inbox: make(chan tea.Msg), ctx: ctx,
		dice:   rand.New(rand.NewPCG(seed, 3)),
		orders: map[string]*stormOrder{}, seen: map[string]stormRow{},
	}
	client := s.client(api.Config{Key: key, Pacer: pacer, Observe: store.RecordExchange})
	watcher := account.NewWatcher(account.WatcherConfig{Store: store, Reader: client, Feed: box, ListEvery: 20 * time.Second, List: 40})
	guard := s.guard(client, func(in api.Intent, sent time.Time, confirmed bool) {
		how := account.ByRead
		if confirmed {
			how = account.ByConfirm
		}
		store.ApplyRead(in, sent, how)
	})
	s.away = s.client(api.Config{Key: key})
	s.rival = s.guard(s.away, nil)
	s.m = New(Config{Source: store, Armed: true, Confirmer: guard, Environment: client.Environment().Name, Live: true, Location: time.UTC, Refresh: watcher.Refresh})
	s.m.ctx = ctx
	s.m.Update(tea.WindowSizeMsg{Width: 100, Height: 50})
	press(s.m, "z")

	s.background(service.Run)
	s.background(watcher.Run)
	s.background(func(ctx context.Context) error {
		return pump(ctx, store, func(c account.Changes) { s.send(changesMsg{c}) })
	})
	s.run(s.m.Init())
	return s
}

func (s *storm) client(cfg api.Config) *api.Client {
	cfg.BaseURL, cfg.Transport = "http://127.0.0.1:7420", simulator.RoundTripper{Handler: s.service.Handler()}
	client, err := api.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

func (s *storm) guard(client *api.Client, read func(api.Intent, time.Time, bool)) *confirm.Guard {
	g, err := confirm.New(confirm.Config{
		Service: client, Environments: client.Environments(), Read: read, AuditFile: filepath.Join(s.t.TempDir(), "confirms.jsonl"),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { g.Close() })
	return g
}

func (s *storm) background(run func(context.Context) error) {
	go func() {
		if err := run(s.ctx); err != nil && s.ctx.Err() == nil {
			s.t.Error(err)
		}
	}()
}

// send hands the board a message, as the program does: one after another.
func (s *storm) send(msg tea.Msg) {
	select {
	case s.inbox <- msg:
	case <-s.ctx.Done():
	}
}

// run carries a command out, as the program and the terminal do.
func (s *storm) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, cmd := range msg {
				s.run(cmd)
			}
		case terminalMsg: // the question for the terminal's attributes
			s.send(answer)
		default:
			s.send(msg)
		}
	}()
}

// update gives the board a message and looks at every row that it changes.
func (s *storm) update(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	s.run(cmd)
	if s.m.stale() {
		s.look()
	}
}

// pass lets time go by, or less if done reports so.
func (s *storm) pass(most time.Duration, done func() bool) {
	end := time.NewTimer(most)
	defer end.Stop()
	for done == nil || !done() {
		select {
		case msg := <-s.inbox:
			s.update(msg)
		case <-end.C:
			return
		}
	}
}

func (s *storm) press(name string) { s.update(actiontest.Press(name)) }

// create makes an intent that awaits confirmation and waits until its row shows it
// as one that was read.
func (s *storm) create(n int) (name string, o *stormOrder) {
	name = fmt.Sprintf(orderPrefix+"%04d", n)
	o = &stormOrder{made: time.Now(), doomed: s.dice.IntN(6) == 0}
	order := simulator.Order{ProductURL: fmt.Sprintf("https://shop.example/products/item-%04d", n), State: api.AwaitingConfirmation}
	if o.doomed {
		order.Fate = simulator.Fate{Failure: "order_placement_failed", WhilePlacing: true}
	}
	id := made(s.t, s.service, order)
	o.id = api.ID(id)
	s.orders[name] = o
	return name, o
}

// look reads the screen and holds every row that says something new against the
// service's own record. What is true of an order once stays true.
func (s *storm) look() {
	for line := range strings.SplitSeq(drawing(s.m), "\n") {
		row, known := s.seen[line]
		if !known {
			row = readRow(ansi.Strip(line))
			s.seen[line] = row
		}
		if row.name == "" {
			continue
		}
		o := s.orders[row.name]
		if !known {
			s.judge(o, row, ansi.Strip(line))
		}
		if row.denies() {
			o.denied = row.note
		}
	}
}

// sayYes confirms an intent as a person does, key by key.
func (s *storm) sayYes(name string, o *stormOrder) {
	s.pass(5*time.Minute, func() bool { return s.canBeConfirmed(o) })
	if !s.m.board.intents.Select(o.id) {
		s.t.Fatalf("%s is not on the board", name)
	}
	before := s.m.confirms.runs[o.id]
	s.press("c")
	if s.m.dialog.confirm() == nil {
		return // its offer or its quiet was lost in the storm: the board says why
	}
	for try := 0; try < 10 && s.m.confirms.runs[o.id] == before; try++ {
		s.pass(1500*time.Millisecond, nil)
		s.press("C")
	}
	if s.m.confirms.runs[o.id] == before {
		s.t.Fatalf("%s: the dialog takes no yes:\n%s", name, screen(s.m))
	}
	o.yeses++
	o.denied = ""
	run := s.m.confirms.runs[o.id]
	s.pass(time.Minute, func() bool { return !run.underway() || !run.at.BeforeWriting() }) // until then, esc takes it back
	s.press("esc")
}

// sayYesToAll confirms several at once, and those again that a batch that stopped
// has left.
func (s *storm) sayYesToAll(names []string) {
	for range 6 {
		for _, name := range names {
			o := s.orders[name]
			if s.m.confirms.runs[o.id] != nil {
				continue
			}
			s.pass(5*time.Minute, func() bool { return s.canBeConfirmed(o) })
			if s.m.board.intents.Select(o.id) {
				s.press("x")
			}
		}
		s.press("X")
		for try := 0; try < 10 && s.m.dialog.confirm() != nil; try++ {
			s.pass(1500*time.Millisecond, nil)
			s.press("C")
		}
		s.pass(10*time.Minute, func() bool { return s.m.batch.queue == nil })
	}
	for _, name := range names {
		if o := s.orders[name]; s.m.confirms.runs[o.id] != nil {
			o.yeses++
		}
	}
}

func (s *storm) canBeConfirmed(o *stormOrder) bool {
	in, ok := s.m.picture.intents[o.id]
	return ok && s.m.confirms.unconfirmable(in) == ""
}

// TestRowsShowNothingFalseInAStorm watches the board while many confirms go
// through a service that drops, delays, doubles and fails its answers. The clock
// is a made-up one, so that it takes seconds.
func TestRowsShowNothingFalseInAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		s := newBoardInAStorm(t, ctx, *stormSeed)
		s.pass(time.Second, nil)
		for n, wave := 0, 0; n < *stormConfirms; wave++ {
			names := make([]string, min(20, *stormConfirms-n))
			for i := range names {
				names[i], _ = s.create(n + i)
			}
			n += len(names)
			s.wave(wave, names)
		}
		s.rivals.Wait()
		s.pass(10*time.Minute, nil) // what was held back has taken effect, and was read
		s.pass(api.ConfirmWindow, s.expiriesAreRead)
		s.settled()
		end()
		s.m.confirms.running.Wait()
		t.Logf("%d intents, %d looks at rows that had changed", len(s.orders), s.looks)
	})
}

// settled holds the picture, after all is over, against the service's own record.
func (s *storm) settled() {
	yeses, denied := 0, 0
	for name, o := range s.orders {
		placed, want := ordersOf(s.t, s.service, string(o.id)), api.Completed
		switch {
		case placed == 0 && time.Since(o.made) < api.ConfirmWindow:
			want = api.AwaitingConfirmation
		case placed == 0 || o.doomed:
			want = api.Failed
		}
		if in, ok := s.store.Intent(o.id); !ok || in.State != want {
			s.t.Errorf("%s: the picture says %s in the end, want %s with %d orders", name, in.State, want, placed)
		}
		if o.denied != "" && placed != 0 && !o.rivaled && o.yeses == 1 {
			s.t.Errorf("%s: its row said %q, and it was placed by the one yes that was given", name, o.denied)
		}
		yeses += o.yeses
		if o.denied != "" {
			denied++
		}
	}
	if yeses < *stormConfirms*9/10 || denied == 0 || s.looks < yeses {
		s.t.Errorf("%d yeses, %d denials and %d looks are no storm", yeses, denied, s.looks)
	}
}

// control makes a request to the control API of a stand-in and returns its answer.
func control(t testing.TB, of *simulator.Simulator, method, path string, body any) gjson.Result {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/control/"+path, bytes.NewReader(sent))
	r.Header.Set("Authorization", "Bearer "+stormKey)
	answer := httptest.NewRecorder()
	of.Handler().ServeHTTP(answer, r)
	if answer.Code/100 != 2 {
		t.Fatalf("%s %s %s: %d %s", method, path, sent, answer.Code, answer.Body)
	}
	return gjson.ParseBytes(answer.Body.Bytes())
}

// made makes an intent in a stand-in and returns its id.
func made(t testing.TB, in *simulator.Simulator, o simulator.Order) string {
	t.Helper()
	return control(t, in, http.MethodPost, "intents", o).Get("id").String()
}

// ordersOf is how many orders a stand-in placed for an intent.
func ordersOf(t testing.TB, in *simulator.Simulator, id string) int {
	t.Helper()
	return int(control(t, in, http.MethodGet, "intents/"+id, nil).Get("orders").Int())
}

const stormKey = "key-of-the-storm"
