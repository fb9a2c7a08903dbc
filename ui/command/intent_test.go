package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// ran is what a command printed and how it ended.
type ran struct {
	code       int
	out, words string
	objects    []map[string]any
}

func runAs(t *testing.T, args ...string) ran {
	t.Helper()
	var out, words bytes.Buffer
	r := ran{code: run(t.Context(), args, nil, &out, &words)}
	r.out, r.words = out.String(), words.String()
	for line := range strings.Lines(r.out) {
		var object map[string]any
		if json.Unmarshal([]byte(line), &object) == nil {
			r.objects = append(r.objects, object)
		}
	}
	return r
}

// asUser is the configuration of the world's account for the commands.
func (w *world) asUser(t *testing.T) (config string) {
	t.Helper()
	return configFile(t, "api_url", w.settings.APIURL, "api_key", w.settings.APIKey.Reveal(),
		"relay_url", w.settings.RelayURL, "relay_token", w.settings.RelayToken.Reveal(), "state_dir", t.TempDir())
}

func TestIntentIsReadWithItsTimelineAndShipments(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Timings = simulator.Timings{Offer: 50 * time.Millisecond, Placing: 50 * time.Millisecond, ShipmentStep: 200 * time.Millisecond, Spread: -1}
	w := newWorld(t, c)
	w.openBoard(t, 80, 24)
	w.screen.waitFor(t, `relay ● live`)
	var ids []string
	for range 3 {
		id, err := w.service.CreateIntent(simulator.Order{ProductURL: chiliCrisp, Quantity: 2, Fate: simulator.Fate{ConfirmAfter: 50 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	open, err := w.service.CreateIntent(simulator.Order{ProductURL: chiliCrisp})
	if err != nil {
		t.Fatal(err)
	}
	w.waitForPicture(t, "three orders", func(c account.Changes) bool {
		return c.Summary.Intents["completed"] == 3 && c.Summary.Intents["awaiting_confirmation"] == 1 && len(c.Shipments) >= 3
	})
	config := w.asUser(t)

	r := runAs(t, "intent", "--config", config, "--json", ids[0], open)
	if r.code != exitDone || len(r.objects) != 2 {
		t.Fatalf("exit code %d, %d objects: %s%s", r.code, len(r.objects), r.out, r.words)
	}
	first := r.objects[0]
	intent := first["intent"].(map[string]any)
	for name, want := range map[string]any{"id": ids[0], "state": "completed", "certainty": "verified", "quantity": 2.0} {
		if intent[name] != want {
			t.Errorf("%s is %v, want %v", name, intent[name], want)
		}
	}
	if first["events_told"] != true || first["buyer"] != nil {
		t.Errorf("printed %v", first)
	}
	if shipments := first["shipments"].([]any); len(shipments) == 0 {
		t.Error("its shipment is missing")
	}
	var how []string
	for _, m := range intent["timeline"].([]any) {
		moment := m.(map[string]any)
		how = append(how, fmt.Sprint(moment["what"], " ", moment["type"], " ", moment["to"]))
	}
	if told := strings.Join(how, "\n"); !strings.Contains(told, "event checkout_intent.offer_retrieved awaiting_confirmation") || !strings.Contains(told, "event checkout_intent.completed completed") || !strings.Contains(told, "read <nil> completed") {
		t.Errorf("timeline:\n%s", told)
	}
	if second := r.objects[1]["intent"].(map[string]any); second["state"] != "awaiting_confirmation" || second["expiresAt"] == nil {
		t.Errorf("the open one is %v", second)
	}
	if asked := runAs(t, "intent", "--config", config, "--json", "--reveal", open).objects[0]["buyer"].(map[string]any); asked["email"] == "" {
		t.Errorf("the buyer is %v though it was asked for", asked)
	}

	text := runAs(t, "intent", "--config", config, ids[0], open)
	if text.code != exitDone || !strings.Contains(text.out, "SHIPMENTS") || !strings.Contains(text.out, "✓ completed") || !strings.Contains(text.out, "Confirm by") || !strings.Contains(text.out, "masked: --reveal shows it") {
		t.Errorf("exit code %d:\n%s%s", text.code, text.out, text.words)
	}
	for line := range strings.Lines(text.out) {
		if width := ansi.StringWidth(strings.TrimRight(line, "\n")); width > 80 {
			t.Errorf("%d cells wide: %s", width, line)
		}
	}
}

func TestIntentSaysWhatTheRelayKnowsThoughTheKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 80, 24)
	id, err := w.service.CreateIntent(simulator.Order{ProductURL: chiliCrisp})
	if err != nil {
		t.Fatal(err)
	}
	w.waitForPicture(t, "the offer", func(c account.Changes) bool { return c.Summary.Intents["awaiting_confirmation"] == 1 })
	w.settings.APIKey = api.NewSecret("another-key")
	r := runAs(t, "intent", "--config", w.asUser(t), id)
	if r.code != exitFailed || !strings.Contains(r.out, "awaiting confirmation") || strings.Contains(r.words, "did not send its history") {
		t.Errorf("exit code %d:\n%s%s", r.code, r.out, r.words)
	}
}

func TestIntentThatIsNotThereFailsAndTheOthersArePrinted(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, _ := s.awaiting(t, chiliCrisp)
	for _, c := range []struct {
		name  string
		args  []string
		fault string
		code  int
		says  string
		lines int
	}{
		{name: "not there", args: []string{"ci_none"}, code: exitFailed, says: "ci_none: the service knows no such intent in this environment"},
		{name: "one of two is not there", args: []string{"ci_none", id}, code: exitFailed, says: "ci_none", lines: 1},
		{name: "twice the same", args: []string{id, id}, code: exitDone, lines: 1},
		{name: "no id", args: nil, code: exitUsage, says: "which intent?"},
		{name: "a path", args: []string{"a/b"}, code: exitUsage, says: "looks like a path"},
		{name: "the service is broken", args: []string{id}, fault: `{"count":9,"status":500}`, code: exitFailed, says: id},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.fault != "" {
				s.fail(t, c.fault)
			}
			r := runAs(t, append([]string{"intent", "--config", s.config, "--json", "--wait", "30s"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.words, c.says) || len(r.objects) != c.lines {
				t.Errorf("exit code %d, %d lines, want %d and %d: %s%s", r.code, len(r.objects), c.code, c.lines, r.out, r.words)
			}
		})
	}
}

func TestFailureThatQuotesTheBuyerIsMasked(t *testing.T) {
	e := exporterOf(t, `{"id":"ci_1","state":"failed","createdAt":"2026-06-18T11:50:00.000Z","buyer":{"firstName":"Zadie","phone":"646-555-0143","country":"US"},
"paymentMethod":{"type":"vault_token","vaultToken":"3f1c9a52-live-token"},"failureReason":{"code":"form_validation_error","message":"the phone 646-555-0143 does not match"}}`)
	detail, _ := e.store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		intent := e.intentLine(detail, reveal, true, time.Now())
		line, err := json.Marshal(intent)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(line), intent.sheet(), intent.markdown()} {
			if strings.Contains(text, "3f1c9a52") {
				t.Errorf("revealing %v, the token is shown: %s", reveal, text)
			}
			if strings.Contains(text, "646-555") != reveal {
				t.Errorf("revealing %v: %s", reveal, text)
			}
		}
	}
}

func TestWhatIsHandedOnQuotesNoMailSecretOrBuyer(t *testing.T) {
	e := exporterOf(t, `{"id":"ci_1","state":"failed","createdAt":"2026-06-18T11:50:00.000Z","buyer":{"firstName":"Zadie","country":"US"},"referenceId":"gift-Zadie",
"variantSelections":[{"label":"Engraving","value":"For Zadie"}],"failureReason":{"code":"checkout_failed","message":"ask help@acme.example, token: tok-5f3a9c"}}`)
	detail, _ := e.store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		intent := e.intentLine(detail, reveal, true, time.Now())
		for _, private := range []string{"help@acme.example", "tok-5f3a9c", "gift-Zadie", "For Zadie"} {
			if text := intent.markdown(); strings.Contains(text, private) != reveal {
				t.Errorf("revealing %v, %s is in it: %v\n%s", reveal, private, !reveal, text)
			}
		}
		if text := intent.sheet(); strings.Contains(text, "tok-5f3a9c") != reveal {
			t.Errorf("revealing %v:\n%s", reveal, text)
		}
	}
}

func TestAnIntentInJSONIsMaskedAsInARecordingUnlessRevealed(t *testing.T) {
	e := exporterOf(t, `{"id":"ci_1","state":"completed","createdAt":"2026-06-18T11:50:00.000Z","productUrl":"https://acme.example/mug?for=zadie-session",
"buyer":{"firstName":"Zadie","city":"Springfield","country":"US"},"paymentMethod":{"type":"vault_token","vaultToken":"3f1c9a52-live-token"},"referenceId":"gift-Zadie"}`)
	shipment, err := api.DecodeShipment([]byte(`{"id":"shp_1","checkoutIntentId":"ci_1","status":"shipped","tracking":{"carrierName":"DHL","number":"00340434161094","url":"https://dhl.example/?id=00340434161094"},
"trackingEvents":[{"status":"shipped","location":{"city":"Springfield"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e.store.ApplyIntentShipments("ci_1", []api.Shipment{shipment}, time.Now())
	detail, _ := e.store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		line, err := json.Marshal(e.intentLine(detail, reveal, true, time.Now()))
		if err != nil || strings.Contains(string(line), "3f1c9a52") {
			t.Fatalf("error %v: %s", err, line)
		}
		shown := string(line)
		if body := strings.Index(shown, `"body":`); body > 0 {
			shown = shown[:body] // masked by itself
		}
		for _, private := range []string{"Zadie", "zadie-session", "Springfield", "00340434161094", "dhl.example"} {
			if strings.Contains(shown, private) != reveal {
				t.Errorf("revealing %v, %s is in it: %v\n%s", reveal, private, !reveal, shown)
			}
		}
	}
}

func TestAnUnreadStateNamesItsWitness(t *testing.T) {
	for witness, want := range map[account.What]string{
		account.EventTold: "reported by an event, not read since", account.MadeElsewhere: "as a proxy saw it, not read since",
	} {
		in := &account.IntentDetail{
			Intent: account.Intent{State: api.RetrievingOffer, Certainty: account.Reported}, Timeline: []*account.Moment{{What: witness, To: api.RetrievingOffer}},
		}
		if got := (intentSections{intentLine: &intentLine{Intent: in}}).grounds(); got != want {
			t.Errorf("%s: %q, want %q", witness, got, want)
		}
	}
}
