package command

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// awaitingWorld is a world with n intents that await confirmation.
func awaitingWorld(t *testing.T, n int, change func(*simulator.Config)) (w *world, ids []string) {
	t.Helper()
	c := quiet()
	c.Limits = simulator.Limits{Reads: 1000, Mutations: 1000, PerDay: 1000}
	if change != nil {
		change(&c)
	}
	w = newWorld(t, c)
	w.settings.PollShare = 1
	for i := range n {
		id := made(t, w.service, simulator.Order{
			ProductURL: fmt.Sprintf("https://shop.example/products/item-%02d", i), State: api.AwaitingConfirmation,
		})
		ids = append(ids, id)
	}
	return w, ids
}

// look opens a board and waits until all n intents have been read.
func (w *world) look(t *testing.T, n int) {
	t.Helper()
	w.openBoard(t, 200, 60)
	w.screen.waitFor(t, fmt.Sprintf(`awaiting %d\b`, n), `relay ● live`, `▌Item`)
	w.screen.waitGone(t, `unread`)
}

// ask opens the dialog and lets the keys rest.
func (w *world) ask(t *testing.T) {
	t.Helper()
	w.screen.press(t, "c")
	w.screen.waitFor(t, `Confirm order`)
	w.screen.rest(t)
}

// confirm confirms an intent as another client of the account.
func (w *world) confirm(t *testing.T, id string) {
	t.Helper()
	client, err := api.New(api.Config{BaseURL: w.settings.APIURL, Key: w.settings.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ConfirmIntent(t.Context(), api.ID(id), api.ConfirmIntent{Raw: []byte(`{"paymentMethod":{"type":"drawdown"}}`)}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) wantOrders(t *testing.T, id string, want int) {
	t.Helper()
	if got := ordersOf(t, w.service, id); got != want {
		text, _ := w.screen.text()
		t.Errorf("%d orders of %s, want %d; the board says\n%s", got, id, want, text)
	}
}

func TestKeysThatWereTypedAheadOrPastedConfirmNothing(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 1, nil)
	w.look(t, 1)
	w.screen.press(t, "cCCC\rCy C")
	w.screen.waitFor(t, `Confirm order`, `Too soon: ignored`)
	w.screen.rest(t)
	w.screen.press(t, "\x1b[200~C\x1b[201~")
	w.screen.waitFor(t, `Pasted text is ignored`)
	w.screen.press(t, "\x1b[200~CC\rC\x1b[201~C")
	w.screen.waitFor(t, `Too soon: ignored`)
	w.screen.rest(t)
	w.wantOrders(t, ids[0], 0)
	if log, err := os.ReadFile(filepath.Join(w.settings.StateDir, "confirms.jsonl")); err != nil || len(log) > 0 {
		t.Errorf("%v; the audit log says %s", err, log)
	}
}

func TestAnOfferThatChangedUnderTheDialogIsRefusedWithTheDifference(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 1, nil)
	var dearer atomic.Bool
	between := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		w.service.Handler().ServeHTTP(answer, r)
		body := answer.Body.String()
		if dearer.Load() {
			body = strings.ReplaceAll(body, `"amountSubunits":1154}}`, `"amountSubunits":1254}}`) // the total comes last
		}
		maps.Copy(rw.Header(), answer.Result().Header)
		rw.WriteHeader(answer.Code)
		_, _ = io.WriteString(rw, body)
	}))
	t.Cleanup(between.Close)
	w.settings.APIURL = between.URL
	w.look(t, 1)
	w.ask(t)
	dearer.Store(true)
	w.screen.agree(t, "C", `intent changed since you looked`, `you saw\s+now`, `total\s+11.54 USD\s+12.54 USD`)
	w.wantOrders(t, ids[0], 0)
	w.screen.press(t, "\x1b")
	w.screen.waitGone(t, `╭─ `)
	w.screen.waitFor(t, `changed`, `12.54 USD`) // the row has learnt both
}

func TestAnAnswerThatNeverComesIsSettledByReading(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 1, nil)
	w.look(t, 1)
	w.ask(t)
	w.fail(t, `{"drop":true,"method":"POST","path":"/api/v1/"}`)
	w.screen.agree(t, "C", `▸ Settle`)
	w.wantOrders(t, ids[0], 0)
	w.confirm(t, ids[0])
	w.screen.waitFor(t, `✓ Confirmed`)
	w.wantOrders(t, ids[0], 1)
}

func TestTwoDashboardsThatConfirmOneIntentPlaceOneOrder(t *testing.T) {
	one := func(_ *testing.T, first string) string { return first }
	two := func(t *testing.T, _ string) string { return t.TempDir() }
	for _, c := range []struct {
		name     string
		machine  func(t *testing.T, first string) string // the state folder of the second
		keyless  bool                                    // the service knows no idempotency keys, as in the contract
		accepted []int                                   // how many may be told so
	}{
		{"of one machine", one, true, []int{1}},
		{"of two machines", two, true, []int{1}},
		{"of two machines, whom the service answers alike", two, false, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, ids := awaitingWorld(t, 1, func(config *simulator.Config) { config.IgnoreIdempotencyKeys = c.keyless })
			second := *w
			second.settings.StateDir = c.machine(t, w.settings.StateDir)
			w.look(t, 1)
			second.look(t, 1)
			w.screen.press(t, "c")
			second.ask(t)
			w.screen.press(t, "C")
			second.screen.press(t, "C")
			const ended = `✓ Confirmed|Not confirmed|Already confirmed|Nothing was sent`
			one, other := w.screen.insist(t, "C", ended), second.screen.insist(t, "C", ended)
			w.wantOrders(t, ids[0], 1)
			accepted := 0
			for _, screen := range []string{one, other} {
				if strings.Contains(screen, "✓ Confirmed") {
					accepted++
				}
			}
			if !slices.Contains(c.accepted, accepted) {
				t.Errorf("%d of them say that it was accepted:\n%s\n%s", accepted, one, other)
			}
		})
	}
}

func TestABatchOf14WithTenAgentsSendsTenAndGoesOnAsAgentsFreeUp(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 14, nil)
	w.look(t, 14)
	w.screen.press(t, "z")
	unread := regexp.MustCompile(`unread`) // such rows have their place to come
	w.screen.waitUntil(t, "all of them read", func(text string) bool {
		return strings.Count(text, "Item ") == 14 && !unread.MatchString(text)
	})
	w.screen.press(t, strings.Repeat("x", 14))
	w.screen.waitFor(t, `■ 14 marked`)
	w.screen.press(t, "z")
	w.screen.press(t, "X")
	w.screen.waitFor(t, `14 orders`, `Total`)
	w.screen.agree(t, "C", `BATCH 10 of 14 done · waiting for a free agent`)
	var sent []string
	for _, id := range ids {
		if ordersOf(t, w.service, id) > 0 {
			sent = append(sent, id)
		}
	}
	if len(sent) != 10 {
		t.Errorf("%d were sent while ten agents are busy", len(sent))
	}
	w.finish(t, sent...)
	w.screen.waitFor(t, `batch: 14 accepted`)
	for _, id := range ids {
		w.wantOrders(t, id, 1)
	}
}

func TestRealMoneyTintsTheFrameAndWantsTheAmount(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 1, nil)
	w.settings.APIURL = dig(t, w.settings.APIURL).address
	w.look(t, 1)
	w.screen.waitFor(t, `ARMED`)
	w.screen.press(t, "c")
	asked := w.screen.waitFor(t, `Confirm order`, `REAL MONEY`, `not armed`)
	w.screen.agree(t, "\x7fC\r", `Not typed as shown yet`)
	w.wantOrders(t, ids[0], 0)
	total := regexp.MustCompile(`Total\s+([\d.]+) USD`).FindStringSubmatch(asked)
	w.screen.press(t, "\x7f"+total[1])
	w.screen.waitFor(t, `✓ armed`)
	w.screen.press(t, "\t\r")
	// Too soon after the tab, unless the machine stood still between the two.
	if text := w.screen.waitFor(t, `Too soon|✓ Confirmed`); !strings.Contains(text, `✓ Confirmed`) {
		w.screen.agree(t, "\r", `✓ Confirmed`)
	}
	w.wantOrders(t, ids[0], 1)
}
