package account

import (
	"encoding/json"
	"net/url"
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
		{"a query behind a mail address", "see https://shop.example/ann@mail.example?session=tell-nobody", "tell-nobody"},
		{"a mail address before a query", "see https://shop.example/ann@mail.example?session=x", "ann@"},
		{"a query behind user information", "see https://me:pw@shop.example/?token=tell-nobody", "tell-nobody"},
		{"user information before a query", "see https://me:tell-nobody@shop.example/?a=b", "tell-nobody"},
		{"a query of any name", "see https://shop.example/?a=1&q=tell-nobody", "tell-nobody"},
		{"a query in a query", "see https://shop.example/?next=https%3A%2F%2Fb.example%2F%3Fq%3Dtell-nobody", "tell-nobody"},
		{"a query in a path", "see https://shop.example/to/https%3A%2F%2Fb.example%2F%3Fq%3Dtell-nobody%26r%3Ds", "tell-nobody"},
		{"a query in a path, encoded twice", "see https://shop.example/to/b.example%252F%253Fq%253Dtell-nobody", "tell-nobody"},
		{"a fragment of any name", "see https://shop.example/#q=tell-nobody", "tell-nobody"},
		{"a query that a line break splits", "see https://shop.example/?q=\ntell-nobody", "tell-nobody"},
		{"an encoded mail address", "see https://shop.example/of/somebody%40mail.example/x", "somebody"},
		{"a header", "refused: X-Api-Key: tell-nobody", "tell-nobody"},
		{"a cookie", "refused: Cookie: a=b; c=tell-nobody", "tell-nobody"},
		{"JSON", `refused: {"clientSecret": "do tell-nobody"}`, "tell-nobody"},
		{"a word before a secret", "no such API key tell-nobody", "tell-nobody"},
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

func FuzzSharedTextsQuoteNoSecret(f *testing.F) {
	const secret = "Zq7Marker4xW"
	places := []string{
		"https://me:" + secret + "@shop.example/?a=b", "https://shop.example/ann@mail.example?session=" + secret, "https://me:pw@shop.example/?token=" + secret,
		"https://shop.example/?a=1&q=" + secret + "&b=2", "https://shop.example/#q=" + secret, "token: " + secret, `{"password":"a ` + secret + `"}`,
		"Authorization: Basic " + secret, secret + "@mail.example", "/to/" + url.QueryEscape("https://b.example/?q="+secret+"&c=d"), url.QueryEscape(url.QueryEscape("https://b.example/?q=" + secret)),
	}
	for i := range places {
		f.Add("see ", ".", i)
	}
	f.Add("https://x@", "@y?z=", 1)
	f.Fuzz(func(t *testing.T, before, after string, place int) {
		text := before + " " + places[uint(place)%uint(len(places))]
		if shown := maskString(text + after); strings.Contains(shown, secret) && !strings.Contains(before+after, secret) {
			t.Errorf("%q is shared as %q", text+after, shown)
		}
	})
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
