package command

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestTheSheetOfAnOrderSpeaksAsTheBoardDoes(t *testing.T) {
	item := func(id api.ID, state api.IntentState, total int64) *account.Intent {
		return &account.Intent{ID: id, State: state, Total: &api.Money{Currency: "USD", Subunits: total}}
	}
	failed := item("ci_2", api.Failed, 900)
	failed.Failure = &api.FailureReason{Code: "product_out_of_stock"}
	for name, c := range map[string]struct {
		other *account.Intent
		want  string
		not   string
	}{
		"an item that failed":            {failed, "✕ failed: out of stock", "product out of stock"},
		"a total below zero":             {item("ci_2", api.Completed, -500), "at least 25.00 USD: 1 not counted", "not known yet"},
		"a total that cannot be added":   {item("ci_2", api.Completed, math.MaxInt64), "at least 25.00 USD: 1 not counted", "not known yet"},
		"an item whose total is unknown": {&account.Intent{ID: "ci_2", State: api.RetrievingOffer}, "at least 25.00 USD: 1 not counted", "not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			o := account.NewOrder("order-7", []*account.Intent{item("ci_1", api.Completed, 2500), c.other})
			sheet := (&orderLine{Settled: true, Order: o}).text()
			if !strings.Contains(sheet, c.want) || strings.Contains(sheet, c.not) {
				t.Errorf("want %q and no %q:\n%s", c.want, c.not, sheet)
			}
		})
	}
}

func TestAnOrderMayLackTheItemsOfAListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/checkout-intents":
			fmt.Fprint(w, `{"data":[{"id":"ci_1","state":"failed","referenceId":"order-9"},{"state":"completed","referenceId":"order-9"}],"pageInfo":{"hasNextPage":false}}`)
		case "/api/v1/shipments":
			fmt.Fprint(w, `{"data":[],"pageInfo":{"hasNextPage":false}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"name":"NotFoundError","message":"no"}`)
		}
	}))
	defer service.Close()
	config := configFile(t, "api_url", service.URL, "api_key", "key-of-the-test", "state_dir", t.TempDir())
	r := runAs(t, "order", "order-9", "--json", "--config", config, "--wait", "1m")
	if len(r.objects) != 1 || r.objects[0]["settled"] != false || !strings.Contains(r.words, "items may be missing: the picture is not settled, entries of the list of intents that cannot be read (1)") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
}
