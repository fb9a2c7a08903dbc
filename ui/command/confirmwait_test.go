package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
)

// answering answers every request in memory.
type answering func(w http.ResponseWriter)

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w)
	return w.Result(), nil
}

func TestAWaitForAnOrderSaysWhatReadsShowed(t *testing.T) {
	intent := func(state string, total int) answering {
		return func(w http.ResponseWriter) {
			fmt.Fprintf(w, `{"id":"ci_1","state":%q,"orderId":"SL-1","offer":{"cost":{"total":{"currencyCode":"USD","amountSubunits":%d}}}}`, state, total)
		}
	}
	failed := func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"id":"ci_1","state":"failed","failureReason":{"code":"product_out_of_stock"}}`)
	}
	for name, c := range map[string]struct {
		reads answering
		code  int // before the wait
		want  int
		said  string
	}{
		"it is placed":                         {intent("completed", 4452), exitDone, exitDone, "confirmed, and the order is placed: SL-1"},
		"it is placed at another total":        {intent("completed", 999900), exitDone, exitDone, "confirmed, and the order is placed: SL-1 (total was 44.52 USD, is 9999.00 USD)"},
		"another client's is placed":           {intent("completed", 4452), exitAlready, exitAlready, "already confirmed, and the order is placed: SL-1"},
		"it is still being placed":             {intent("placing_order", 4452), exitDone, exitUnknown, "confirmed, but what became of its order is not known yet: the last read showed it placing order"},
		"another client's is being placed":     {intent("placing_order", 4452), exitAlready, exitUnknown, "already confirmed, but what became of its order is not known yet: the last read showed it placing order"},
		"its order failed":                     {failed, exitDone, exitFailed, "confirmed, but the order failed: out of stock. The product is sold out"},
		"its state went back":                  {intent("awaiting_confirmation", 4452), exitDone, exitUnknown, "the last read showed it awaiting confirmation"},
		"the service does not know it anymore": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, exitDone, exitUnknown, "the last read failed: GET /api/v1/checkout-intents/ci_1: 404"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := api.New(api.Config{BaseURL: "https://checkout.example", Key: api.NewSecret("key-of-the-test"), Transport: c.reads})
				if err != nil {
					t.Fatal(err)
				}
				read := api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, Offer: &api.Offer{Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: 4452}}}}
				seen, err := confirm.Propose(&read, client.Environment(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				r := &confirmReport{Environment: client.Environment().Name, Intent: &account.IntentDetail{Intent: account.Intent{ID: "ci_1"}}, ExitCode: c.code}
				r.await(t.Context(), client, &seen, time.Minute)
				if r.ExitCode != c.want || strings.HasPrefix(r.said, "confirmed, ") != (c.code == exitDone) || !strings.Contains(r.said, c.said) {
					t.Errorf("exit code %d, want %d; it says %q, want %q", r.ExitCode, c.want, r.said, c.said)
				}
			})
		})
	}
}

func TestAWaitTakesNothingThatAnotherEnvironmentAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := api.New(api.Config{BaseURL: "https://checkout.example", Key: api.NewSecret("key-of-the-test"), Transport: answering(func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"id":"ci_1","state":"completed"}`)
		})})
		if err != nil {
			t.Fatal(err)
		}
		r := &confirmReport{Environment: "simulator", Intent: &account.IntentDetail{Intent: account.Intent{ID: "ci_1"}}}
		r.await(t.Context(), client, nil, time.Minute)
		if r.ExitCode != exitUnknown || !strings.Contains(r.said, `"checkout.example" answers now, not "simulator"`) {
			t.Errorf("exit code %d: %s", r.ExitCode, r.said)
		}
	})
}
