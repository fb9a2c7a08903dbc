package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
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

func TestFailureThatQuotesTheBuyerIsMasked(t *testing.T) {
	e := exporterOf(t, `{"id":"ci_1","state":"failed","createdAt":"2026-06-18T11:50:00.000Z","buyer":{"firstName":"Zadie","phone":"646-555-0143","country":"US"},
"paymentMethod":{"type":"vault_token","vaultToken":"3f1c9a52-live-token"},"failureReason":{"code":"form_validation_error","message":"the phone 646-555-0143 does not match"}}`)
	detail, _ := e.Store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		intent := intentLineOf(e.Session, detail, reveal, true, time.Now())
		line, err := json.Marshal(intent)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(line), intent.text()} {
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
	detail, _ := e.Store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		intent := intentLineOf(e.Session, detail, reveal, true, time.Now())
		for _, private := range []string{"help@acme.example", "tok-5f3a9c", "gift-Zadie", "For Zadie"} {
			if text := intent.text(); strings.Contains(text, private) != reveal {
				t.Errorf("revealing %v, %s is in it: %v\n%s", reveal, private, !reveal, text)
			}
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
	e.Store.ApplyIntentShipments("ci_1", []api.Shipment{shipment}, time.Now())
	detail, _ := e.Store.Intent("ci_1")
	for _, reveal := range []bool{false, true} {
		line, err := json.Marshal(intentLineOf(e.Session, detail, reveal, true, time.Now()))
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
		if got := (&intentLine{Intent: in}).state(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", witness, got, want)
		}
	}
}
