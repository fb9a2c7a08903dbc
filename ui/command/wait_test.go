package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

func TestWait(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Limits = simulator.Unlimited()
	c.Timings.Offer, c.Timings.Placing = 300*time.Millisecond, 300*time.Millisecond
	w := newWorld(t, c)
	config := w.asUser(t)
	alone := configFile(t, "api_url", w.settings.APIURL, "api_key", w.settings.APIKey.Reveal(), "state_dir", t.TempDir())
	make1 := func(o simulator.Order) string {
		o.ProductURL = chiliCrisp
		id, err := w.service.CreateIntent(o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	confirmed := simulator.Fate{ConfirmAfter: 100 * time.Millisecond}
	failing := simulator.Fate{ConfirmAfter: 100 * time.Millisecond, Failure: "payment_failed", WhilePlacing: true}
	cases := []struct {
		name  string
		order simulator.Order
		args  string // ID stands for that of the intent
		alone bool   // without a relay
		code  int
		says  string
	}{
		{"an intent, with a relay", simulator.Order{Fate: confirmed}, "intent:ID state=completed", false, exitDone, " is completed, after"},
		{"an intent, by polling alone", simulator.Order{}, "intent:ID state=awaiting_confirmation --poll-every 2s", true, exitDone, "is awaiting confirmation"},
		{"an intent as it is", simulator.Order{State: api.AwaitingConfirmation}, "intent:ID", true, exitDone, "is awaiting confirmation"},
		{"one of several states", simulator.Order{State: api.Completed}, "intent:ID state=failed,completed", true, exitDone, "is completed"},
		{"why it failed", simulator.Order{State: api.Failed}, "intent:ID state=failed reason=order_placement_failed", true, exitDone, "is failed: order placement failed"},
		{"another reason", simulator.Order{State: api.Failed}, "intent:ID state=failed reason=payment_failed", true, exitNotConfirmable, "no longer"},
		{"why it failed, as the board says it", simulator.Order{State: api.Failed, Fate: simulator.Fate{Failure: "product_out_of_stock"}}, "intent:ID state=failed", true, exitDone, "is failed: out of stock"},
		{"it has failed", simulator.Order{Fate: failing}, "intent:ID state=completed", false, exitNotConfirmable, "it can no longer hold: intent ID is failed: payment failed"},
		{"it is past that", simulator.Order{State: api.AwaitingConfirmation}, "intent:ID state=retrieving_offer", true, exitNotConfirmable, "is awaiting confirmation"},
		{"the time is up", simulator.Order{State: api.AwaitingConfirmation}, "intent:ID state=completed --for WAIT", true, exitFailed, "the time is up: intent ID is awaiting confirmation"},
		{"no such intent", simulator.Order{}, "intent:ci_nobody state=completed", true, exitNotConfirmable, "knows no such intent"},
		{"an event to come, by its reference", simulator.Order{ReferenceID: "order-1", Fate: confirmed}, "event type=checkout_intent.completed reference=order-1", false, exitDone, "_completed: checkout_intent.completed, after"},
		{"an event that came before", simulator.Order{ReferenceID: "order-2", State: api.AwaitingConfirmation}, "event type=checkout_intent.offer_retrieved intent=ID", false, exitDone, "event evt_ID_awaiting_confirmation: checkout_intent.offer_retrieved"},
		{"an event that can no longer come", simulator.Order{ReferenceID: "order-3", Fate: failing}, "event type=checkout_intent.completed reference=order-3", false, exitNotConfirmable, "no such event has come, and intent ID is failed"},
		{"an event of any intent", simulator.Order{Fate: confirmed}, "event type=checkout_intent.*", false, exitDone, ": checkout_intent."},
		{"an event of an order that nobody made", simulator.Order{}, "event type=checkout_intent.completed reference=nobody --for WAIT", false, exitFailed, "no such event has come"},
		{"an order", simulator.Order{ReferenceID: "order-4", Fate: confirmed}, "order:order-4 state=completed", false, exitDone, "of order order-4 1 completed"},
		{"an order of which an item failed", simulator.Order{ReferenceID: "order-5", Fate: failing}, "order:order-5 state=completed", false, exitNotConfirmable, "1 failed"},
		{"an order that ended before", simulator.Order{ReferenceID: "order-9", State: api.Completed}, "order:order-9 state=completed", false, exitDone, "of order order-9 1 completed"},
		{"more items than there are", simulator.Order{ReferenceID: "order-6", State: api.Completed}, "order:order-6 state=completed items=2 --for WAIT", false, exitFailed, "the time is up: "},
		{"a relay that is ready", simulator.Order{}, "relay", false, exitDone, "the relay is ready"},
		{"no relay", simulator.Order{}, "relay", true, exitUsage, "no relay is configured"},
		{"an event without a relay", simulator.Order{}, "event type=shipment.*", true, exitUsage, "no relay is configured"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id := make1(c.order)
			with := config
			if c.alone {
				with = alone
			}
			var r ran
			want := strings.ReplaceAll(c.says, "ID", id)
			for _, wait := range everLonger() {
				args := strings.NewReplacer("ID", id, "WAIT", wait).Replace(c.args)
				r = runAs(t, append(strings.Fields("wait --json --for 2m --poll-share 1 "+args), "--config", with)...)
				if !strings.Contains(c.args, "WAIT") || strings.Contains(r.words, want) {
					break
				}
			}
			if r.code != c.code || !strings.Contains(r.words, want) {
				t.Errorf("exit code %d, want %d; no %q in %s", r.code, c.code, want, r.words)
			}
			if c.code == exitUsage {
				return
			}
			verdict := map[int]string{exitDone: "met", exitFailed: "time_over", exitNotConfirmable: "impossible"}[c.code]
			if len(r.objects) != 1 || r.objects[0]["verdict"] != verdict || r.objects[0]["exit_code"] != float64(c.code) {
				t.Errorf("printed %s", r.out)
			}
		})
	}
}

func TestWaitRefusesWhatMeansNothing(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, args, says string }{
		{"nothing", "", "for what?"},
		{"no subject", "intnt:ci_1 state=completed", "did you mean intent?"},
		{"an intent without its id", "intent state=completed", "write intent:ID"},
		{"an event with a colon", "event:evt_1", "without a colon"},
		{"a path for an id", "intent:../x", "looks like a path"},
		{"no such state", "intent:ci_1 state=complete", "did you mean completed?"},
		{"no such type", "event type=checkout_intent.complete", "did you mean checkout_intent.completed?"},
		{"no such name", "intent:ci_1 stat=completed", "did you mean state?"},
		{"a word", "intent:ci_1 completed", "write name=value"},
		{"no value", "intent:ci_1 state=", "write name=value"},
		{"terms of the relay", "relay state=live", "relay takes no terms"},
		{"nothing of an order", "order:o-1", "as in state=…"},
		{"no items", "order:o-1 items=0", "a whole number, 1 or more"},
		{"no time", "relay --for 0s", "--for must be longer than 0"},
		{"a time before all", "relay --since -1s", "--since 0 or longer"},
	}
	config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "state_dir", t.TempDir())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if r := runAs(t, append(strings.Fields("wait "+c.args), "--config", config)...); r.code != exitUsage || !strings.Contains(r.words, c.says) || r.out != "" {
				t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
			}
		})
	}
}

func TestWaitEndsWhereNothingCanBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	id, err := w.service.CreateIntent(simulator.Order{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the key is refused", func(t *testing.T) {
		config := configFile(t, "api_url", w.settings.APIURL, "api_key", "another-key", "state_dir", t.TempDir())
		r := runAs(t, "wait", "intent:"+id, "state=completed", "--json", "--config", config)
		if r.code != exitFailed || !strings.Contains(r.words, "refuses the API key") {
			t.Errorf("exit code %d: %s", r.code, r.words)
		}
		if len(r.objects) != 1 || r.objects[0]["verdict"] != "not_checked" || r.objects[0]["exit_code"] != float64(exitFailed) || r.objects[0]["is"] != errUnauthorized.Error() {
			t.Errorf("printed %q", r.out)
		}
	})
	t.Run("the token is refused", func(t *testing.T) {
		config := configFile(t, "relay_url", w.settings.RelayURL, "relay_token", "another-token-of-16")
		if r := runAs(t, "wait", "relay", "--config", config); r.code != exitNotConfirmable || !strings.Contains(r.words, "refuses this client") {
			t.Errorf("exit code %d: %s", r.code, r.words)
		}
	})
	t.Run("an interrupt is no success", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		var out strings.Builder
		words := interrupting{&strings.Builder{}, interrupt}
		code := run(ctx, []string{"wait", "intent:" + id, "state=completed", "--json", "--config", w.asUser(t)}, nil, &out, words)
		var object waitReport
		if err := json.Unmarshal([]byte(out.String()), &object); err != nil || object.Verdict != "interrupted" || object.ExitCode != exitFailed {
			t.Errorf("printed %q (%v); %s", out.String(), err, words.String())
		}
		if code != exitFailed || !strings.Contains(words.String(), "interrupted") {
			t.Errorf("exit code %d: %s", code, words.String())
		}
	})
}

// interrupting interrupts a command as soon as it says anything.
type interrupting struct {
	*strings.Builder
	interrupt func()
}

func (i interrupting) Write(words []byte) (int, error) {
	i.interrupt()
	return i.Builder.Write(words)
}

func TestWaitForARelayThatStartsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.killed()
	answered := make(chan struct{}, 1)
	listener := listenAgain(t, strings.TrimPrefix(w.settings.RelayURL, "http://"))
	starting := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusServiceUnavailable)
		select {
		case answered <- struct{}{}:
		default:
		}
	})}
	go starting.Serve(listener)
	config, done := w.asUser(t), make(chan ran, 1)
	go func() { done <- runAs(t, "wait", "relay", "--for", "30s", "--config", config) }()
	<-answered
	starting.Close()
	w.restartRelay(t)
	if r := <-done; r.code != exitDone || !strings.Contains(r.words, "the relay is ready") {
		t.Errorf("exit code %d: %s", r.code, r.words)
	}
}

func TestWaitForAnEventNeedsOnlyTheRelay(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Timings.Offer = 300 * time.Millisecond
	w := newWorld(t, c)
	config := configFile(t, "relay_url", w.settings.RelayURL, "relay_token", w.settings.RelayToken.Reveal(), "state_dir", t.TempDir())
	if _, err := w.service.CreateIntent(simulator.Order{ProductURL: chiliCrisp}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, args string
		code       int
		says       string
	}{
		{"of a type", "event type=checkout_intent.offer_retrieved --since 1m", exitDone, ": checkout_intent.offer_retrieved, after"},
		{"that does not come", "event type=product.removed --for 1s", exitFailed, "the time is up: no such event has come"},
		{"of an order, which only a read names", "event reference=order-1", exitUsage, "no service is configured"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if r := runAs(t, append(strings.Fields("wait "+test.args), "--config", config)...); r.code != test.code || !strings.Contains(r.words, test.says) {
				t.Errorf("exit code %d: %s", r.code, r.words)
			}
		})
	}
}

func TestWaitSaysWhyNothingWasRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"an error":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502"},
		"no answer":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"another server": {http.NotFound, "404 not found: 404 page not found (not as the service says it: is the base URL right?)"},
		"no room left":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := httptest.NewServer(test.answer)
			defer service.Close()
			config := configFile(t, "api_url", service.URL, "api_key", "key", "state_dir", t.TempDir())
			for _, wait := range everLonger() {
				r := runAs(t, "wait", "intent:ci_1 state=completed", "--for", wait, "--config", config)
				const want = "the time is up: the intent has not been read; the last read failed: "
				if r.code == exitFailed && strings.Contains(r.words, want) && strings.Contains(r.words, test.says) {
					return
				}
				t.Log(r.code, r.words)
			}
			t.Error("it never said why")
		})
	}
}

func TestWaitForAnOrderSaysThatReadsWaitForQuota(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Policy", `"burst";q=10;w=1, "daily";q=5000;w=86400`)
		w.Header().Set("RateLimit", `"burst";r=9;t=1, "daily";r=40;t=80000`)
		fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"data":[]}`)
	}))
	defer service.Close()
	config := configFile(t, "api_url", service.URL, "api_key", "key", "state_dir", t.TempDir())
	for _, wait := range everLonger() {
		r := runAs(t, "wait", "order:o-7 state=completed", "--for", wait, "--config", config)
		if r.code == exitFailed && strings.Contains(r.words, `of "daily" only 40 of 5,000 are left, kept for checkouts`) {
			return
		}
		t.Log(r.code, r.words)
	}
	t.Error("it never said why")
}

func TestWaitSaysWhatWasReadOfAnIntentWithoutAVerifiedState(t *testing.T) {
	reported := []account.Delivery{{Event: api.Event{ID: "evt_1", Type: api.IntentCompleted, CreatedAt: time.Now(), Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent}}}}
	read := func(state api.IntentState) func(*account.Store) {
		return func(s *account.Store) { s.ApplyRead(api.Intent{ID: "ci_1", State: state}, time.Now(), account.ByRead) }
	}
	event := func(s *account.Store) { s.ApplyEvents(reported, time.Now()) }
	for name, c := range map[string]struct {
		learns []func(*account.Store)
		says   string
	}{
		"nothing is known":             {nil, "the intent has not been read"},
		"only an event":                {[]func(*account.Store){event}, "the intent has not been read"},
		"an answer without a state":    {[]func(*account.Store){read("")}, "the service does not say which state intent ci_1 is in"},
		"that, and an event":           {[]func(*account.Store){read(""), event}, "the service does not say which state intent ci_1 is in"},
		"an event after the last read": {[]func(*account.Store){read(api.PlacingOrder), event}, "intent ci_1 has not been read since an event reported it completed"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := parseCondition([]string{"intent:ci_1", "state=completed"})
			if err != nil {
				t.Fatal(err)
			}
			look := &waiting{condition: w, store: account.NewStore(account.StoreConfig{})}
			for _, learn := range c.learns {
				learn(look.store)
			}
			if look.look(); look.now.verdict != notYet || look.now.is != c.says {
				t.Errorf("verdict %v, it says %q, want %q", look.now.verdict, look.now.is, c.says)
			}
		})
	}
}

func TestWaitForAnOrderDoesNotCallAnItemUnreadForItsMissingState(t *testing.T) {
	w, err := parseCondition([]string{"order:order-7", "state=completed"})
	if err != nil {
		t.Fatal(err)
	}
	look := &waiting{condition: w, store: account.NewStore(account.StoreConfig{})}
	look.store.ApplyRead(api.Intent{ID: "ci_1", ReferenceID: "order-7"}, time.Now(), account.ByRead)
	if look.look(); look.now.verdict != notYet || look.now.is != "of order order-7 1 of unknown state" {
		t.Errorf("verdict %v, it says %q", look.now.verdict, look.now.is)
	}
}

func TestWaitForAnEventSaysThatTheRelayDoesNotAnswer(t *testing.T) {
	w, err := parseCondition([]string{"event type=checkout_intent.completed"})
	if err != nil {
		t.Fatal(err)
	}
	store := account.NewStore(account.StoreConfig{})
	store.SetFeed(account.FeedStatus{State: account.FeedConnecting, Err: errors.New("connection refused")})
	over, end := context.WithCancel(t.Context())
	end()
	look := &waiting{condition: w, store: store}
	if err := look.until(over); err == nil || look.now.verdict != notYet || look.now.is != "the relay does not answer, so no event can arrive: connection refused" {
		t.Errorf("%v, %+v", err, look.now)
	}
}

func TestAnAwaitedEventIsRememberedOnlyWhileAReadMayNameIt(t *testing.T) {
	t.Parallel()
	w, err := parseCondition([]string{"event reference=o-7"})
	if err != nil {
		t.Fatal(err)
	}
	look := &waiting{condition: w, store: account.NewStore(account.StoreConfig{})}
	come := func(id api.ID, source api.EventSource) {
		look.collect([]account.Delivery{{Event: api.Event{ID: id, Type: api.OfferRetrieved, Source: source}}})
	}
	read := func(id api.ID, reference api.Text) {
		look.store.ApplyRead(api.Intent{ID: id, State: api.AwaitingConfirmation, ReferenceID: reference}, time.Now(), account.ByRead)
	}
	for i := range 1000 {
		other := api.ID(fmt.Sprintf("ci_%d", i))
		come("evt_"+other, api.EventSource{ID: other, Type: api.SourceIntent})
		read(other, "another")
	}
	come("evt_product", api.EventSource{ID: "prd_1", Type: api.SourceProduct})
	come("evt_wanted", api.EventSource{ID: "ci_wanted", Type: api.SourceIntent})
	if look.look(); look.now.verdict != notYet || len(look.events) != 1 {
		t.Errorf("verdict %v and %d events remembered, want that of the intent that was not read", look.now.verdict, len(look.events))
	}
	read("ci_wanted", "o-7")
	if look.look(); look.now.verdict != isSo || look.now.event != "evt_wanted" {
		t.Errorf("verdict %v by %q, want the event of the order", look.now.verdict, look.now.event)
	}
}
