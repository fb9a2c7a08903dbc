package account_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// recorded is an intent in the stand-in's own record, as it stands on the wire.
type recorded struct {
	ID          string `json:"id"`
	State       string `json:"state"`
	ReferenceID string `json:"referenceId"`
	Offer       *struct {
		Cost struct {
			Total struct {
				CurrencyCode   string `json:"currencyCode"`
				AmountSubunits int64  `json:"amountSubunits"`
			} `json:"total"`
		} `json:"cost"`
	} `json:"offer"`
}

// record reads all that the stand-in has.
func record(t *testing.T, service http.Handler) (all []recorded, bodies []api.Intent) {
	t.Helper()
	for after := ""; ; {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/checkout-intents?limit=100&after="+after, nil)
		r.Header.Set("Authorization", "Bearer "+ownKey)
		answer := httptest.NewRecorder()
		service.ServeHTTP(answer, r)
		var page struct {
			Data     []json.RawMessage `json:"data"`
			PageInfo struct {
				EndCursor   string `json:"endCursor"`
				HasNextPage bool   `json:"hasNextPage"`
			} `json:"pageInfo"`
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &page); err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
		}
		for _, body := range page.Data {
			var one recorded
			if err := json.Unmarshal(body, &one); err != nil {
				t.Fatal(err)
			}
			in, err := api.DecodeIntent(body)
			if err != nil {
				t.Fatal(err)
			}
			all, bodies = append(all, one), append(bodies, in)
		}
		if !page.PageInfo.HasNextPage {
			return all, bodies
		}
		after = page.PageInfo.EndCursor
	}
}

func TestOrdersAreThoseOfTheStandInsRecordForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, err := simulator.New(simulator.Config{
			Key: api.NewSecret(ownKey), Seed: 11, History: -1, IntentsPerMinute: 0.5, ManyItems: 0.4, AutoConfirm: 0.7, FailureShare: 0.2,
			Lists: simulator.ListsServed, Limits: simulator.Unlimited(),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- service.Run(ctx) }()
		store := account.NewStore(account.StoreConfig{})
		most, partly := 0, 0
		for range account.UnlessRaced(24, 4) {
			time.Sleep(time.Hour)
			synctest.Wait()
			all, bodies := record(t, service.Handler())
			store.ApplyList(bodies, time.Now())
			byReference := map[string][]recorded{}
			for _, one := range all {
				byReference[one.ReferenceID] = append(byReference[one.ReferenceID], one)
			}
			for reference, items := range byReference {
				o := store.Order(api.Text(reference))
				compareOrder(t, o, items)
				if len(items) > 1 && o.PartlyFailed {
					partly++
				}
				most = max(most, len(items))
			}
		}
		if most < 3 || partly == 0 {
			t.Errorf("the largest order has %d items and %d were partly failed: the day shows nothing", most, partly)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// compareOrder counts and sums the items of the record anew.
func compareOrder(t *testing.T, o *account.Order, items []recorded) {
	t.Helper()
	if o == nil || len(o.Intents) != len(items) {
		t.Fatalf("%+v is not the order of %+v", o, items)
	}
	counts, sums, unpriced := map[api.IntentState]int{}, map[string]int64{}, 0
	for _, one := range items {
		counts[api.IntentState(one.State)]++
		switch {
		case one.State == "failed":
		case one.Offer == nil:
			unpriced++
		default:
			sums[one.Offer.Cost.Total.CurrencyCode] += one.Offer.Cost.Total.AmountSubunits
		}
	}
	got := map[string]int64{}
	for _, total := range o.Totals {
		got[total.Currency] = total.Subunits
	}
	if !maps.Equal(o.Counts, counts) || !maps.Equal(got, sums) || o.Unpriced != unpriced {
		t.Errorf("%s: %v, %v and %d unpriced; the record has %v, %v and %d", o.Reference, o.Counts, got, o.Unpriced, counts, sums, unpriced)
	}
}
