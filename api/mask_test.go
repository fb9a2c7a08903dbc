package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func TestMaskedHidesTokensAndPersonalDataAndKeepsTheRest(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"a buyer", `{"buyer": {"firstName":"A","city":"B","country":"US","age":3,"extra":null,"tags":["x",{"country":"US"}]}}`,
			`{"buyer":{"firstName":"[masked]","city":"[masked]","country":"US","age":"[masked]","extra":null,"tags":["[masked]",{"country":"US"}]}}`},
		{"a payment method", `{"paymentMethod":{"type":"vault_token","vaultToken":"23bd","network":"base","else":"x"}}`,
			`{"paymentMethod":{"type":"vault_token","vaultToken":"[masked]","network":"base","else":"[masked]"}}`},
		{"a token that a message repeats", `{"failureReason":{"message":"No such token: tok_12345"},"paymentMethod":{"type":"card_token","cardToken":"tok_12345"}}`,
			`{"failureReason":{"message":"[masked]"},"paymentMethod":{"type":"card_token","cardToken":"[masked]"}}`},
		{"values of refused fields", `{"fields":{"body.buyer.phone":{"message":"no","value":"555"},"body.paymentMethod":{"message":"no","value":{"type":"cash"}}},"stack":"at x"}`,
			`{"fields":{"body.buyer.phone":{"message":"no","value":"[masked]"},"body.paymentMethod":{"message":"no","value":{"type":"[masked]"}}},"stack":"[masked]"}`},
		{"whatever is named like a secret", `{"api_key":"k","X-Svc-Signature":"v0=ab","clientSecret":"s","access_token":"t","email":"e@x"}`,
			`{"api_key":"[masked]","X-Svc-Signature":"[masked]","clientSecret":"[masked]","access_token":"[masked]","email":"[masked]"}`},
		{"variants, products and numbers stay", `{"variantSelections":[{"label":"Size","value":"M"}],"name":"Socks","n":1.50,"b":true,"z":null}`,
			`{"variantSelections":[{"label":"Size","value":"M"}],"name":"Socks","n":1.50,"b":true,"z":null}`},
		{"what must not be drawn", "{\"name\":\"a\u202eb\u009b\U000e0041c\u0301\"}", `{"name":"a\u202eb\u009b\udb40\udc41c\u0301"}`},
		{"what addresses hold", `{"productUrl":"https://u:p@w@evil.example/p?size=M&token=a?b;c&%61pi_key=k#access_token=t","message":"see http://u@x/"}`,
			`{"productUrl":"https://[masked]@evil.example/p?size=M&token=[masked]&%61pi_key=[masked]#access_token=[masked]","message":"see http://[masked]@x/"}`},
		{"an address within one", `{"next":"https://a.example/?to=https://b.example/?secret=s&n=1;sessionToken=t"}`,
			`{"next":"https://a.example/?to=https://b.example/?secret=[masked]&n=1;sessionToken=[masked]"}`},
		{"addresses without secrets", `{"productUrl":"https:\/\/shop.example/@me?variant=7&q=a@b"}`, `{"productUrl":"https:\/\/shop.example/@me?variant=7&q=a@b"}`},
		{"what looks like a key", `{"message":"sk_live_0123 of (rk_test_0123abc), tok_live_0123, my_whsec_MfKQ9r8G","task_number":"task_number_7 disk_usage_high sk_7"}`,
			`{"message":"[masked] of ([masked]), [masked], my_[masked]","task_number":"task_number_7 disk_usage_high sk_7"}`},
		{"an address in Slovak", `{"productUrl":"https://shop.example/sk_SK/products/chili-crisp","message":"whsec_MfKQ/9r8G+x="}`,
			`{"productUrl":"https://shop.example/sk_SK/products/chili-crisp","message":"[masked]"}`},
		{"a list of intents", `[{"buyer":{"email":"a"}},1]`, `[{"buyer":{"email":"[masked]"}},1]`},
		{"a string", `"hello"`, `"hello"`},
		{"no JSON", `<html>secret</html>`, `"[not JSON: 19 bytes]"`},
		{"nothing", ``, `"[not JSON: 0 bytes]"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(Masked([]byte(test.body))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestRevealedShowsPersonalDataAndNeverSecrets(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"a buyer", `{"buyer":{"firstName":"Ann","country":"US","tags":["x",null]},"email":"ann@example.com"}`,
			`{"buyer":{"firstName":"Ann","country":"US","tags":["x",null]},"email":"ann@example.com"}`},
		{"a payment of the buyer", `{"buyer":{"name":"Ann","cardLast4":"1234","payment":{"type":"card","city":"Austin"}}}`,
			`{"buyer":{"name":"Ann","cardLast4":"[masked]","payment":{"type":"[masked]","city":"[masked]"}}}`},
		{"a buyer of a payment", `{"paymentMethod":{"type":"vault_token","email":"ann@example.com"},"card":{"firstName":"Ann"}}`,
			`{"paymentMethod":{"type":"vault_token","email":"[masked]"},"card":{"firstName":"[masked]"}}`},
		{"a secret of the buyer", `{"buyer":{"token":"tok_12345","apiKey":{"country":"US"}},"stack":"at x"}`,
			`{"buyer":{"token":"[masked]","apiKey":{"country":"[masked]"}},"stack":"[masked]"}`},
		{"what repeats a secret", `{"buyer":{"note":"pay with sk_12345","age":1234567},"apiKey":"sk_12345","cvc":"1234567"}`,
			`{"buyer":{"note":"[masked]","age":"[masked]"},"apiKey":"[masked]","cvc":"[masked]"}`},
		{"what was refused", `{"fields":{"body.buyer.phone":{"message":"no","value":"555"}}}`, `{"fields":{"body.buyer.phone":{"message":"no","value":"[masked]"}}}`},
		{"what must not be drawn", "{\"buyer\":{\"name\":\"a\u202eb\"}}", `{"buyer":{"name":"a\u202eb"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(Revealed([]byte(test.body))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestMaskedFixturesHoldNoPersonalData(t *testing.T) {
	for _, file := range []string{"01-checkout-intents.json", "02-failure-reasons.json"} {
		for _, f := range fixtures(t, file) {
			checkMasked(t, f.Body)
			want := oracle[wireIntent](t, f.Body)
			shown := string(Masked(f.Body))
			for _, private := range []string{want.Buyer.FirstName, want.Buyer.LastName, want.Buyer.Email, want.Buyer.Phone, want.Buyer.Address1, want.Buyer.PostalCode} {
				if strings.Contains(shown, `"`+private+`"`) {
					t.Errorf("%s: %q is shown", f.Name, private)
				}
			}
			if p := want.PaymentMethod; p != nil && p.VaultToken != "" && strings.Contains(shown, p.VaultToken) {
				t.Errorf("%s: the token is shown", f.Name)
			}
			if got := oracle[wireIntent2](t, []byte(shown)); got.ID != want.ID || got.State != want.State {
				t.Errorf("%s: id and state are lost", f.Name)
			}
		}
	}
}

type wireIntent2 struct{ ID, State string }

// checkMasked holds what is true of every body: the masked one is JSON, safe to
// draw, and masking it again changes nothing.
func checkMasked(t *testing.T, body []byte) {
	t.Helper()
	shown := Masked(body)
	if !json.Valid(shown) {
		t.Fatalf("masked body is no JSON: %q", shown)
	}
	if forbidden := findForbidden(string(shown)); forbidden != "" {
		t.Fatalf("%q holds %s", shown, forbidden)
	}
	if again := Masked(shown); string(again) != string(shown) {
		t.Fatalf("masking again changes it: %q became %q", shown, again)
	}
}

func FuzzMasked(f *testing.F) {
	f.Add([]byte(`{"buyer":{"a":1},"paymentMethod":{"token":"abcdef"},"m":"abcdef"}`))
	f.Add([]byte("[\"\u202e\xff\", {\"fields\":{\"a\":{\"value\":[1]}}}]"))
	f.Fuzz(func(t *testing.T, body []byte) { checkMasked(t, body) })
}

func TestABodyOfTooManyTokensIsMaskedWhole(t *testing.T) {
	for name, test := range map[string]struct {
		tokens int
		want   string // the message
	}{
		"as many as are searched for": {1500, "declined"},
		"more":                        {16_000, masked},
	} {
		t.Run(name, func(t *testing.T) {
			var body strings.Builder
			body.WriteString(`{"message":"declined","payments":[`)
			for i := range test.tokens {
				fmt.Fprintf(&body, `{"payment":{"token":"token-%06d"}},`, i)
			}
			body.WriteString(`{}]}`)
			shown := string(Masked([]byte(body.String())))
			if got := gjson.Get(shown, "message").Str; got != test.want || strings.Contains(shown, "token-") {
				t.Errorf("the message is %q, want %q; a token is shown: %v", got, test.want, strings.Contains(shown, "token-"))
			}
		})
	}
}

// An answer may be as large as the client takes: whoever sends it decides how much of it repeats, and how deeply it is nested.
func TestMaskingTakesNotMuchLongerThanTheBodyIsLong(t *testing.T) {
	filler := strings.Repeat(`"declined tttttttt tokenxx-99 ",`, maxBody/64)
	for name, body := range map[string]string{
		"tokens":                `{"payments":[` + strings.Repeat(`{"payment":{"token":"tokenxx-000001"}},`, 999) + `{}],"texts":[` + filler + `""]}`,
		"levels":                strings.Repeat(`{"payment":`, 9_000) + `[` + filler + `""]` + strings.Repeat(`}`, 9_000),
		"brackets within texts": `{"a":"` + strings.Repeat(`[{\"`, maxBody/8) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			shown := Masked([]byte(body))
			if took := time.Since(begun); took > 5*time.Second || strings.Contains(string(shown), "tokenxx") {
				t.Errorf("%d bytes took %v, and became %.80s", len(body), took, shown)
			}
			if nested := strings.Contains(string(shown), "nested too deeply"); nested != (name == "levels") {
				t.Errorf("it became %.80s", shown)
			}
		})
	}
}
