package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// prints is every way in which a value commonly ends up in a log.
func prints(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	var text, lines bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("m", "v", v)
	out["slog text"], out["slog JSON"] = text.String(), lines.String()
	if encoded, err := json.Marshal(v); err == nil {
		out["JSON"] = string(encoded)
	}
	return out
}

func TestNothingPrintsPersonalDataOrTokens(t *testing.T) {
	const private, token = "Private-Name", "tok_live_12345"
	body := fmt.Appendf(nil, `{"id":"ci_1","state":"failed","buyer":{"firstName":%q,"email":%q},"paymentMethod":{"type":"vault_token","vaultToken":%q}}`,
		private, private, token)
	intent, err := DecodeIntent(body)
	if err != nil {
		t.Fatal(err)
	}
	event, err := DecodeEvent(fmt.Appendf(nil, `{"id":"e","type":"t","source":{"id":"s","type":"x"},"more":%q}`, private))
	if err != nil {
		t.Fatal(err)
	}
	event.Data = nil
	type hidden struct{ payment *PaymentMethod }
	values := map[string]any{
		"intent":                intent,
		"pointer to an intent":  &intent,
		"list of intents":       []Intent{intent},
		"intent within another": struct{ I Intent }{intent},
		"buyer":                 *intent.Buyer,
		"pointer to a buyer":    intent.Buyer,
		"payment method":        *intent.Payment,
		"confirm body":          ConfirmIntent{Payment: intent.Payment, Raw: body},
		"unexported field":      struct{ h hidden }{hidden{intent.Payment}},
		"secret unexported":     struct{ s Secret }{intent.Payment.Token},
		"config":                Config{Key: NewSecret(token)},
	}
	for name, value := range values {
		for way, printed := range prints(t, value) {
			for _, secret := range []string{private, token, fmt.Sprintf("%x", private), fmt.Sprintf("%x", token), fmt.Sprint([]byte(token))[1:40]} {
				if strings.Contains(printed, secret) {
					t.Errorf("%s printed by %s shows %q: %.200s", name, way, secret, printed)
				}
			}
		}
	}
	for _, verb := range []string{"%v", "%+v", "%s"} {
		if strings.Contains(fmt.Sprintf(verb, event), private) {
			t.Errorf("event printed by %s shows its body", verb)
		}
	}
}

func TestResourcesPrintTheirIdentity(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{Intent{ID: "ci_1", State: Failed}, "intent ci_1 (failed)"},
		{Event{ID: "evt_1", Type: OfferFailed, Source: EventSource{ID: "ci_1"}}, "event evt_1 (checkout_intent.offer_failed of ci_1)"},
		{Shipment{ID: "shp_1", Status: Shipped}, "shipment shp_1 (shipped)"},
		{Product{ID: "a.example:x"}, "product a.example:x"},
		{Buyer{FirstName: "A"}, "[masked]"},
		{NewSecret("k"), "[redacted]"},
		{ConfirmIntent{}, "confirm"},
		{ConfirmIntent{Payment: &PaymentMethod{Type: Drawdown}}, "confirm by drawdown"},
	}
	for _, test := range tests {
		if got := fmt.Sprintf("%+v", test.value); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", test.value)
		if !strings.Contains(log.String(), "v") {
			t.Errorf("nothing logged of %q", test.want)
		}
	}
}

func TestSecretsAreReadFromTextButNotFromWhatHidThem(t *testing.T) {
	var config struct{ Key Secret }
	if err := json.Unmarshal([]byte(`{"Key":"k-1"}`), &config); err != nil || config.Key.Reveal() != "k-1" {
		t.Errorf("got %q, %v", config.Key.Reveal(), err)
	}
	written := jsonOf(t, config)
	if err := json.Unmarshal([]byte(written), &config); err == nil || config.Key.Reveal() != "k-1" {
		t.Errorf("%s was read back as %q", written, config.Key.Reveal())
	}
}

func TestSecretsCompareByTheirText(t *testing.T) {
	a, b, c := NewSecret("same"), NewSecret("sa"+"me"), NewSecret("other")
	same(t, "equal", a == b && a.Equal(b), true)
	same(t, "different", a == c || a.Equal(c), false)
	same(t, "empty is zero", NewSecret("") == Secret{} && NewSecret("").IsZero(), true)
	same(t, "zero reveals nothing", Secret{}.Reveal(), "")
	same(t, "revealed", a.Reveal(), "same")
}

func TestFingerprintsTellSecretsAndPurposesApartAndNothingElse(t *testing.T) {
	one, other := NewSecret("key-one"), NewSecret("key-two")
	print := one.Fingerprint("a")
	if print != NewSecret("key-one").Fingerprint("a") || print == other.Fingerprint("a") || print == one.Fingerprint("b") {
		t.Error("fingerprints do not follow their secrets and purposes")
	}
	if len(print) != 16 || strings.Contains(print, "key") {
		t.Errorf("a fingerprint is %q, want 64 bits in hexadecimal", print)
	}
}
