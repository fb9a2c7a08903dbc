package account

import (
	"encoding/json"
	"strings"
	"testing"

	"tillwatch/api"
)

func TestSharedTextsQuoteNothingPrivate(t *testing.T) {
	for _, c := range []struct{ name, message, private string }{
		{"the buyer's name", "no account for Zadie", "Zadie"},
		{"the buyer's name in capitals", "no account for ZADIE", "ZADIE"},
		{"a short part of the buyer", "Ulm is out of reach", "Ulm"},
		{"a mail address", "mail to somebody@mail.example", "somebody"},
		{"a query", "see https://shop.example/?session=tell-nobody", "tell-nobody"},
		{"a token in a fragment", "see https://shop.example/#access_token=tell-nobody", "tell-nobody"},
		{"user information", "see https://me:tell-nobody@shop.example/", "tell-nobody"},
		{"a token", "token: tell-nobody", "tell-nobody"},
		{"a key that nothing announces", "no account for sk_live_tell_nobody", "tell_nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := api.Text(c.message)
			why := &api.FailureReason{Code: "payment_failed", Message: text}
			in := &IntentDetail{
				Intent: Intent{ID: "ci_1", Failure: why, ReferenceID: text},
				Latest: &api.Intent{
					ID: "ci_1", Failure: why, ReferenceID: text, Variants: []api.VariantSelection{{Label: "Engraving", Value: text}},
					Buyer: &api.Buyer{FirstName: "Zadie", City: "Ulm"},
				},
			}
			line, err := json.Marshal(in.Shared())
			if err != nil || strings.Contains(string(line), c.private) || !strings.Contains(string(line), "payment_failed") {
				t.Errorf("error %v: %s", err, line)
			}
		})
	}
}

func TestASharedTimelineNamesNoMailAddressOfACaller(t *testing.T) {
	seen := &Moment{What: SeenElsewhere, Who: "shop (ops@mail.example)"}
	after := &IntentDetail{Intent: Intent{ID: "ci_1"}, Timeline: []*Moment{seen}}
	reread, ok := after.rereadSince(nil)
	line, err := json.Marshal([]any{after.Shared(), reread})
	if err != nil || !ok || strings.Contains(string(line), "ops@") || strings.Count(string(line), `"who":"shop (`) != 2 {
		t.Errorf("error %v: %s", err, line)
	}
	if seen.Who != "shop (ops@mail.example)" {
		t.Errorf("the picture itself has changed: %v", seen)
	}
}
