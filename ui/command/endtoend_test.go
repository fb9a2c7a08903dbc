package command

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/relay/journal/sqlite"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

// world is the whole path on loopback: the service, a relay that can be killed
// and started again at the same address, and a board on an emulated screen.
type world struct {
	settings settings
	service  *simulator.Simulator
	session  *session.Session
	screen   *screen
	data     string                 // folder of the relay's journal
	killed   func()                 // ends the relay
	owner    *testing.T             // whose end is the end of every part, also of one that a subtest starts
	prepare  func(*session.Session) // before the board opens; nil: nothing
	left     chan struct{}          // closed when the board has been left
}

func newWorld(t *testing.T, c simulator.Config) *world {
	t.Helper()
	w := &world{owner: t, settings: config.Defaults(), data: t.TempDir()}
	w.settings.APIKey, w.settings.SigningSecret = api.NewSecret("key-of-the-test"), api.NewSecret("signing-secret-of-the-test")
	w.settings.RelayToken, w.settings.StateDir = api.NewSecret("token-of-the-test"), t.TempDir()
	w.settings.AllowConfirm = true

	w.startRelay(t, "127.0.0.1:0")
	c.Key, c.SigningSecret, c.WebhookURL = w.settings.APIKey, w.settings.SigningSecret, w.settings.RelayURL+"/webhooks"
	service, err := simulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.service = service
	listener, err := listen("--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.settings.APIURL = address(listener)
	owned(t, service.Run)
	owned(t, func(ctx context.Context) error { return service.Serve(ctx, listener) })
	return w
}

// listenAgain listens at an address that another program may have for a while, since
// it was left.
func listenAgain(t *testing.T, on string) net.Listener {
	t.Helper()
	for late := time.After(patience); ; {
		listener, err := net.Listen("tcp", on)
		if err == nil {
			return listener
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-late:
			t.Fatal(err)
		}
	}
}

// startRelay starts a relay on the world's journal.
func (w *world) startRelay(t *testing.T, on string) {
	t.Helper()
	events, err := sqlite.Open(w.owner.Context(), w.data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(relay.Config{
		Journal: events, SigningSecrets: []api.Secret{w.settings.SigningSecret},
		Tokens: []api.Secret{w.settings.RelayToken}, Logger: slog.New(slog.DiscardHandler),
		StoreBudget: patience, // of a busy disk
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := listenAgain(t, on)
	w.settings.RelayURL = address(listener)
	w.killed = owned(w.owner, func(ctx context.Context) error {
		defer events.Close()
		return r.Serve(ctx, listener)
	})
}

// restartRelay starts the relay again where it was.
func (w *world) restartRelay(t *testing.T) {
	t.Helper()
	w.startRelay(t, strings.TrimPrefix(w.settings.RelayURL, "http://"))
}

// openBoard shows the account on an emulated screen.
func (w *world) openBoard(t *testing.T, width, height int) {
	t.Helper()
	current, err := session.Open(w.settings, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(current.Close)
	if w.prepare != nil {
		w.prepare(current)
	}
	w.session, w.screen, w.left = current, newScreen(t, width, height), make(chan struct{})
	owned(t, func(ctx context.Context) error {
		defer close(w.left)
		return show(ctx, current, screenOptions{width: width, height: height, words: io.Discard}, w.screen, w.screen)
	})
}

// owned runs a part in a goroutine and returns what ends it and waits for it.
// The end of the test does so too.
func owned(t *testing.T, run func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("a part of the world ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

// quiet is a service that does nothing by itself and what it is told to soon; an
// order is placed for as long as the test does not finish it.
func quiet() simulator.Config {
	return simulator.Config{
		Seed: 7, History: -1, AutoConfirm: -1, FailureShare: -1, ProductEventsPerMinute: -1,
		Timings: simulator.Timings{Offer: 500 * time.Millisecond, Placing: time.Hour, Spread: -1},
	}
}

func TestAnIntentTravelsFromTheServiceToTheBoardAndThroughItsConfirmToItsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `relay ● live`, `ARMED`)

	id := made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp", Quantity: 2})
	w.screen.waitFor(t, `awaiting 1\b`, `offer retrieved`)
	w.screen.waitFor(t, `spice-lab.example`, `USD`) // the read has followed the event

	w.screen.press(t, "c")
	w.screen.waitFor(t, regexp.QuoteMeta(id), `(?i)total`)
	w.screen.agree(t, "C", `placing 1\b`, `awaiting 0\b`)
	w.finish(t, id)
	w.screen.waitFor(t, `completed 1\b`, `placing 0\b`)

	w.waitForPicture(t, "a read that names the order", func(account.Changes) bool {
		in, ok := w.session.Store.Intent(api.ID(id))
		return ok && in.Certainty == account.Verified && in.State == api.Completed && len(in.Latest.OrderIDs) > 0
	})
}

// finish has the merchant take the orders of intents that are being placed.
func (w *world) finish(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		control(t, w.service, http.MethodPost, "intents/"+id, nil)
	}
}

// waitForPicture waits until the picture is as wanted.
func (w *world) waitForPicture(t *testing.T, what string, wanted func(account.Changes) bool) account.Changes {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		picture := w.session.Store.Changes(0)
		if wanted(picture) {
			return picture
		}
		if w.session.Store.Wait(ctx, picture.Version) != nil {
			t.Fatalf("the picture never showed %s; it says %+v", what, picture.Summary)
		}
	}
}

// clock is the header's clock.
var clock = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`)

// waitTicks waits until the header's clock has moved n times since text.
func (s *screen) waitTicks(t *testing.T, text string, n int) {
	t.Helper()
	for range n {
		now := clock.FindString(text)
		text = s.waitFor(t, `\b\d\d:\d\d:\d\d\b`)
		for clock.FindString(text) == now {
			_, changed := s.text()
			<-changed
			text, _ = s.text()
		}
	}
}

func TestAConfirmWithoutAKnownOutcomeIsShownAtTheNextStartAndSettledByReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	id := made(t, w.service, simulator.Order{
		ProductURL: "https://spice-lab.example/products/chili-crisp", State: api.PlacingOrder,
	})
	audit := filepath.Join(w.settings.StateDir, "confirms.jsonl")
	sent := `{"at":"` + time.Now().Add(-time.Minute).Format(time.RFC3339Nano) + `","environment":"simulator","attempt":"A","intent":"` + id +
		`","stage":"sending","product":"Chili Crisp","total":"44.52 USD"}` + "\n"
	if err := os.WriteFile(audit, []byte(sent), 0o600); err != nil {
		t.Fatal(err)
	}
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `✓ (TAKEN|PLACED)  Chili Crisp  44\.52 USD`, `(placing|completed) 1\b`)
	w.screen.press(t, "\r")
	w.screen.waitFor(t, `confirm sent`, `settled .*taken: the order is placed`)
	w.screen.press(t, "\x1b")
	taken := regexp.MustCompile(`✓ (TAKEN|PLACED)  Chili`)
	for text, changed := w.screen.text(); taken.MatchString(text); text, changed = w.screen.text() {
		<-changed
	}
	w.screen.press(t, "q")
	<-w.left
	log, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.TrimPrefix(string(log), sent), `"verdict":"accepted"`) {
		t.Errorf("the audit log says\n%s", log)
	}
}

func TestAWrongSignatureIsRefusedAndNothingReachesTheBoard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 120, 36)
	w.screen.waitFor(t, `relay ● live`)
	body := `{"id":"evt_forged","object":"event","type":"checkout_intent.offer_retrieved","createdAt":"2026-06-18T14:02:43.000Z","source":{"type":"checkout_intent","id":"ci_forged"}}`
	for name, signature := range map[string]string{"wrong": "v0=" + strings.Repeat("ab", 32), "missing": "", "without prefix": strings.Repeat("ab", 32)} {
		request, err := http.NewRequest(http.MethodPost, w.settings.RelayURL+"/webhooks", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if signature != "" {
			request.Header.Set("x-svc-signature", signature)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s signature: %d %s", name, answer.StatusCode, got)
		}
	}
	// An honest event that follows is all that arrives.
	made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
	text := w.screen.waitFor(t, `offer retrieved`, `spice-lab`)
	if strings.Contains(text, "forged") {
		t.Errorf("a forged event is on the board:\n%s", text)
	}
	if got := w.session.Store.Changes(0); len(got.Events) != 1 || len(got.Intents) != 1 {
		t.Errorf("the picture has %d events and %d intents, want one of each", len(got.Events), len(got.Intents))
	}
}

func TestARelayThatWasKilledComesBackWithNothingMissingAndNothingDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `relay ● live`)
	create := func(n int) {
		for range n {
			made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
		}
	}
	create(3)
	w.screen.waitFor(t, `awaiting 3\b`)

	w.killed()
	w.screen.waitFor(t, `relay \S+ lost`)
	create(4) // their webhooks find nobody
	w.restartRelay(t)
	w.screen.waitFor(t, `relay ● live`, `awaiting 7\b`)

	all := w.waitForPicture(t, "7 events", func(c account.Changes) bool { return c.Summary.Events.Received >= 7 })
	distinct := map[api.ID]bool{}
	for _, e := range all.Events {
		distinct[e.ID] = true
	}
	if all.Summary.Events.Received != 7 || len(all.Events) != 7 || len(distinct) != 7 || all.Summary.Events.Missed != 0 {
		t.Errorf("counters say %+v; %d events are kept, %d of them distinct; want 7 received and none missed",
			all.Summary.Events, len(all.Events), len(distinct))
	}
	if all.Summary.Feed.Head != 7 || all.Summary.Feed.Cursor != 7 {
		t.Errorf("the journal's head is %d, the cursor %d, want 7", all.Summary.Feed.Head, all.Summary.Feed.Cursor)
	}
}

func TestTheBoardFollowsTheTerminalsSizeAndLeavesItAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `relay ● live`, `others`)
	for _, size := range []struct {
		width, height int
		want          string
	}{
		{120, 36, `ARMED +\d\d:\d\d:\d\d`}, {80, 24, `q quit`}, {20, 5, `40×12`}, {200, 55, `last minute`},
	} {
		w.screen.resize(t, size.width, size.height)
		w.screen.waitFor(t, size.want)
	}
	w.screen.press(t, "q")
	select {
	case <-w.left:
	case <-time.After(patience):
		t.Fatal("q does not leave the board")
	}
	if w.screen.emulator.IsAltScreen() {
		t.Error("the alternate screen is still on")
	}
	if w.screen.hidden {
		t.Error("the cursor is still hidden")
	}
	if text, _ := w.screen.text(); strings.Contains(text, "INTENTS") {
		t.Errorf("the board is still on the screen:\n%s", text)
	}
}
