package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// startForward runs a command until stop, which returns what it said.
func startForward(t *testing.T, args ...string) (stop func() (code int, out, said string)) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	out, said := &utterances{}, &utterances{}
	code := make(chan int, 1)
	go func() { code <- run(ctx, args, strings.NewReader(""), out, said) }()
	return func() (int, string, string) {
		t.Helper()
		interrupt()
		select {
		case c := <-code:
			return c, out.String(), said.String()
		case <-time.After(patience):
			t.Fatalf("it does not end: %s", said.String())
			return 0, "", ""
		}
	}
}

// await waits until the endpoint has had n requests.
func (e *endpoint) await(t *testing.T, n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for late := time.Now().Add(patience); len(e.requests) < n; {
		if time.Now().After(late) {
			t.Fatalf("%d of %d requests came", len(e.requests), n)
		}
		arrived := e.arrived
		e.mu.Unlock()
		select {
		case <-arrived:
		case <-time.After(patience):
		}
		e.mu.Lock()
	}
}

func (e *endpoint) answer(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = status
}

func attemptLines(t *testing.T, out string) (all []attemptLine) {
	t.Helper()
	for line := range strings.Lines(out) {
		var l attemptLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

func mustExit(t *testing.T, want int, says string, args ...string) (out string) {
	t.Helper()
	stdout, said := &utterances{}, &utterances{}
	code := run(t.Context(), args, strings.NewReader(""), stdout, said)
	if code != want || !strings.Contains(said.String(), says) {
		t.Errorf("%v: exit code %d, not %d: %s%s", args, code, want, stdout, said)
	}
	return stdout.String()
}

func TestForwardGoesOnUntilAllIsTakenOrGivenUp(t *testing.T) {
	startEvents(t, 4)
	parcels, orders := newEndpoint(t), newEndpoint(t)
	orders.answer(http.StatusServiceUnavailable)
	routes := []string{"forward", "--json", "--route", "shipment.*=" + parcels.url, "--route", "checkout_intent.*=" + orders.url}

	stop := startForward(t, append(routes, "--since", "earliest")...)
	parcels.await(t, 2)
	orders.await(t, 2)
	code, out, said := stop()
	if code != exitWaiting || !strings.Contains(said, "2 events are not delivered yet") {
		t.Errorf("while orders are refused: %d %s", code, said)
	}
	for _, l := range attemptLines(t, out) {
		taken := l.Type == "shipment.created"
		if (l.State == delivery.Delivered) != taken || l.Next.IsZero() != taken || l.Attempts < 1 || l.Cursor == "" {
			t.Errorf("an attempt is reported as %+v", l)
		}
	}
	if at := parcels.requests[0].Header.Get("x-svc-signature"); at != signed(oldSecret, parcels.bodies[0]) {
		t.Errorf("the signature is %s", at)
	}

	stop = startForward(t, append(routes, "--give-up", "1ns")...)
	orders.await(t, 4)
	if code, _, said = stop(); code != exitDead || !strings.Contains(said, "2 events were given up") || len(parcels.requests) != 2 {
		t.Errorf("when orders are given up: %d %s", code, said)
	}
	if dead := attemptLines(t, mustExit(t, exitDone, "", "forward", "dead", "--json")); len(dead) != 2 || dead[0].State != delivery.Dead || dead[0].Status != 503 {
		t.Errorf("the dead are %+v", dead)
	}
	mustExit(t, exitFailed, "1 of 1 event was not accepted", "forward", "resend", "evt_2")
	orders.answer(http.StatusOK)
	if out = mustExit(t, exitDone, "", "forward", "resend", "evt_2"); !strings.Contains(out, "200 in ") || !strings.Contains(out, "evt_2") {
		t.Errorf("sent again: %s", out)
	}
	mustExit(t, exitFailed, "evt_2 is not dead: tillwatch events resend sends any stored event\n  evt_3 is not dead", "forward", "resend", "evt_2", "evt_3")
	mustExit(t, exitDone, "", "forward", "resend", "--all")
	if out = mustExit(t, exitDone, "No event was given up.", "forward", "dead"); out != "" {
		t.Errorf("after all were taken, dead is %s", out)
	}
	mustExit(t, exitDone, "No event was given up.", "forward", "resend", "--all")
}

func TestResendSendsNothingWhileOneTargetWouldExposeAHeader(t *testing.T) {
	startEvents(t, 2)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("tell-nobody"), 0o600); err != nil {
		t.Fatal(err)
	}
	parcels, orders := newEndpoint(t), newEndpoint(t)
	parcels.answer(http.StatusServiceUnavailable)
	orders.answer(http.StatusServiceUnavailable)
	exposed := strings.Replace(orders.url, "127.0.0.1", "0.0.0.0", 1)
	stop := startForward(t, "forward", "--since", "earliest", "--give-up", "1ns", "--route", "shipment.*="+parcels.url, "--route", "checkout_intent.*="+exposed)
	parcels.await(t, 1)
	orders.await(t, 1)
	if code, _, said := stop(); code != exitDead {
		t.Fatalf("exit code %d: %s", code, said)
	}
	mustExit(t, exitUsage, "would carry what --header-file names unencrypted", "forward", "resend", "--all", "--header-file", "Authorization="+token)
	if len(parcels.requests) != 1 || len(orders.requests) != 1 {
		t.Errorf("%d and %d requests came", len(parcels.requests), len(orders.requests))
	}
	mustExit(t, exitFailed, "1 of 1 event was not accepted", "forward", "resend", "evt_1", "--header-file", "Authorization="+token)
}

func TestWhatIsBeingResentIsNotResentTwice(t *testing.T) {
	startEvents(t, 1)
	came, answer := make(chan struct{}, 2), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-answer
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	stop := startForward(t, "forward", "--since", "earliest", "--give-up", "1ns", "--to", server.URL)
	<-came
	answer <- struct{}{}
	stop()
	resent := make(chan int)
	go func() {
		var out, said bytes.Buffer
		resent <- run(t.Context(), []string{"forward", "resend", "--all"}, strings.NewReader(""), &out, &said)
	}()
	<-came
	mustExit(t, exitFailed, "resends dead events already", "forward", "resend", "--all")
	close(answer)
	if code := <-resent; code != exitFailed || len(came) > 0 {
		t.Errorf("the first one ended with %d, and %d more requests came", code, len(came))
	}
}

func TestAnAddressThatCannotBeReadIsNotQuoted(t *testing.T) {
	const target = "http://shop.example:x/hooks?sig=tell-nobody"
	for _, c := range []struct {
		name string
		o    senderOptions
		want string
	}{
		{"without a header's file", senderOptions{}, "<nil>"},
		{"with one", senderOptions{headerFiles: []string{"Authorization=token"}}, "an endpoint's address cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(c.o.checkClearText(settings{}, target)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestForwardRefusesWhatCannotBeMeant(t *testing.T) {
	startEvents(t, 0)
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte("two\nlines\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, says string }{
		{"no target", "", "where to?"},
		{"no address", "--to 127.0.0.1:3000", "whole address"},
		{"a password", "--to http://ada:tell-nobody@127.0.0.1/", "leave out the user and the password"},
		{"no route", "--route http://127.0.0.1/", "give an event type and an endpoint"},
		{"a route of no event", "--route nope.*=http://127.0.0.1/", "--route: no known event type matches nope.*; the types are: "},
		{"a route nowhere", "--route shipment.*=there", "--route shipment.*: give the whole address"},
		{"a challenge", "--to http://127.0.0.1/ --challenge no", "answer or pass"},
		{"a header without a value", "--to http://127.0.0.1/ --header X-Team", "give a name and a value"},
		{"a header of the service", "--to http://127.0.0.1/ --header x-svc-topic:secret", "cannot be set"},
		{"a host that is none", "--to http://127.0.0.1/ --header Host:shop/example", "the name of one host"},
		{"no host", "--to http://127.0.0.1/ --header Host:", "the name of one host"},
		{"two hosts", "--to http://127.0.0.1/ --header Host:shop.example --header Host:other.example", "the name of one host"},
		{"a header of two lines", "--to http://127.0.0.1/ --header-file X-Team=" + file, "headers must not have"},
		{"a header of no file", "--to http://127.0.0.1/ --header-file X-Team=" + file + "2", "no such file"},
		{"no secret", "--to http://127.0.0.1/ --signing-secret-file " + file + "2", "reading the file that signing_secret_file names"},
		{"a time", "--to http://127.0.0.1/ --since then", "--since"},
		{"nothing to send again", "resend", "give their IDs"},
		{"too much to send again", "resend evt_1 --all", "give their IDs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mustExit(t, exitUsage, c.says, append([]string{"forward"}, strings.Fields(c.args)...)...)
		})
	}
}

func TestAForwarderIsLiveOnceNothingWaits(t *testing.T) {
	r := startEvents(t, 1)
	e := newEndpoint(t)
	e.answer(http.StatusInternalServerError)
	forward := []string{"forward", "--json", "--since", "earliest", "--to", e.url}
	const live = "Live: waiting for events.\n"
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	said := &attentive{heard: func(text string) {
		if strings.Contains(text, live) {
			interrupt()
		}
	}}
	printed := &attentive{heard: func(string) { e.answer(http.StatusOK) }} // once the first attempt has failed
	if code := run(ctx, forward, strings.NewReader(""), printed, said); code != exitDone || !e.taken()["evt_1"] {
		t.Errorf("%d %s%s", code, printed.text.String(), said.text.String())
	}
	if text := said.text.String(); !strings.HasSuffix(text, live) || strings.Count(text, live) != 1 {
		t.Errorf("it is not live once nothing waits: %s", text)
	}
	r.deliver(t, 2)
	stop := startForward(t, forward...)
	e.await(t, len(e.seen())+1)
	if code, _, said := stop(); code != exitDone || !e.taken()["evt_2"] || !strings.Contains(said, "continues where it was") {
		t.Errorf("the next time: %d %v %s", code, e.taken(), said)
	}
}

func TestATargetIsLiveOnlyWhenNothingWaits(t *testing.T) {
	var out strings.Builder
	w := &forwardWords{out: &out, said: map[api.Text]string{}}
	for _, waiting := range []int{2, 2, 1, 0, 0} {
		w.status("http://a.example", relay.Status{State: relay.Live}, waiting)
	}
	want := "http://a.example: All stored events have been read; 2 events are not delivered yet.\n" +
		"http://a.example: All stored events have been read; 1 event is not delivered yet.\n" +
		"http://a.example: Live: waiting for events.\n"
	if out.String() != want {
		t.Errorf("it says\n%swant\n%s", out.String(), want)
	}
}

func TestStoredEventsAreSentAgain(t *testing.T) {
	startEvents(t, 3)
	e := newEndpoint(t)
	if out := mustExit(t, exitDone, "", "events", "resend", "evt_2", "evt_1", "--to", e.url, "--header", "X-Team: checkout"); strings.Count(out, "forwarded: 200") != 2 {
		t.Errorf("by id: %s", out)
	}
	mustExit(t, exitDone, "", "events", "resend", "--since", "1h", "--type", "shipment.*", "--to", e.url)
	want := []string{"evt_2", "evt_1", "evt_1", "evt_3"}
	for i, id := range want {
		if got := e.requests[i].Header.Get("x-svc-event-id"); got != id || e.bodies[i] == "" {
			t.Errorf("request %d is of %s, not %s", i, got, id)
		}
	}
	if e.requests[0].Header.Get("X-Team") != "checkout" || len(e.requests) != len(want) {
		t.Errorf("%d requests, the first with %v", len(e.requests), e.requests[0].Header)
	}
	e.answer(http.StatusTeapot)
	mustExit(t, exitFailed, "1 of 1 event was not accepted", "events", "resend", "evt_1", "--to", e.url)
	mustExit(t, exitFailed, "evt_none: there is no such event", "events", "resend", "evt_none", "--to", e.url)
	mustExit(t, exitDone, "No event was sent", "events", "resend", "--since", "2200-01-01T00:00:00Z", "--to", e.url)
	mustExit(t, exitUsage, "where to?", "events", "resend", "evt_1")
	mustExit(t, exitUsage, "which events?", "events", "resend", "--to", e.url)
	mustExit(t, exitUsage, "--type: no known event type matches nope.*; the types are: ", "events", "resend", "--since", "1h", "--type", "shipment.*", "--type", "nope.*", "--to", e.url)
}

func TestTheDashboardForwardsBesideWhatItShows(t *testing.T) {
	r := startEvents(t, 1)
	t.Setenv("TILLWATCH_API_URL", "http://127.0.0.1:1")
	t.Setenv("TILLWATCH_API_KEY", "key-of-nobody-123")
	e := newEndpoint(t)
	mustExit(t, exitUsage, "--to: give the whole address", "events", "resend", "--since", "1h", "--to", "there")
	mustExit(t, exitUsage, "--forward-to: give the whole address", "watch", "--json", "--forward-to", "there")
	known := startForward(t, "forward", "--since", "earliest", "--to", e.url)
	e.await(t, 1)
	if code, _, said := known(); code != exitDone {
		t.Fatalf("%d %s", code, said)
	}
	r.deliver(t, 2)
	second := newEndpoint(t)
	stop := startForward(t, "watch", "--json", "--forward-to", e.url, "--forward-to", second.url)
	e.await(t, 2)
	last := 2
	for late := time.Now().Add(patience); len(second.seen()) == 0 && time.Now().Before(late); { // a new target gets what comes once it listens
		last++
		r.deliver(t, last)
		e.await(t, last)
	}
	second.await(t, 1)
	code, _, said := stop()
	if code != exitDone || len(e.taken()) != last || len(e.seen()) != last || second.taken()["evt_1"] || second.taken()["evt_2"] {
		t.Errorf("%d %s, taken is %v and %v", code, said, e.taken(), second.taken())
	}
}

// A forwarder that is killed lets go of its state, and the next one goes on.
func TestAKilledForwarderIsFollowedByTheNext(t *testing.T) {
	startEvents(t, 6)
	e := newEndpoint(t)
	e.answer(http.StatusInternalServerError)
	for range 3 {
		seen := len(e.seen())
		program := exec.Command(os.Args[0], "forward", "--to", e.url, "--since", "earliest")
		program.Env = append(os.Environ(), asProgram+"=1")
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		e.await(t, seen+6)
		_ = program.Process.Kill()
		_ = program.Wait() // it was killed
	}
	e.answer(http.StatusOK)
	stop := startForward(t, "forward", "--to", e.url)
	for late := time.Now().Add(patience); len(e.taken()) < 6 && time.Now().Before(late); {
		e.await(t, len(e.seen())+1)
	}
	if code, _, said := stop(); code != exitDone || len(e.taken()) != 6 {
		t.Errorf("%d, taken is %v: %s", code, e.taken(), said)
	}
}

func TestNothingIsForwardedBackToTheRelay(t *testing.T) {
	r := startEvents(t, 1)
	t.Setenv("TILLWATCH_API_URL", "http://127.0.0.1:1")
	t.Setenv("TILLWATCH_API_KEY", "key-of-nobody-123")
	here := strings.Replace(r.Listen, "127.0.0.1", "LocalHost", 1) + "//webhooks/"
	for _, address := range []string{r.Listen + "/webhooks", here} {
		for _, args := range []string{
			"forward --to ", "forward --route shipment.*=", "events resend evt_1 --to ", "events resend --since 1h --to ", "watch --json --forward-to ",
		} {
			mustExit(t, exitUsage, "is the relay's own webhook address", strings.Fields(args+address)...)
		}
	}
	mustExit(t, exitDone, "", "trigger", "shipment.created", "--to", r.Listen+"/webhooks")
}
