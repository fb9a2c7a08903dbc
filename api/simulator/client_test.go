package simulator_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

const clientKey = "shop/staging-fedcba9876543210"

// A client takes an intent from its creation to the delivery of its parcel,
// over real connections.
func TestAClientOverLoopbackHTTP(t *testing.T) {
	sim, err := simulator.New(simulator.Config{Key: api.NewSecret(clientKey), Limits: simulator.Unlimited(), History: 30, Speed: 400})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop := run(ctx, t, sim)
	defer stop()
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	client, err := api.New(api.Config{BaseURL: server.URL, Key: api.NewSecret(clientKey)})
	if err != nil {
		t.Fatal(err)
	}

	const order = `{"productUrl":"https://spice-lab.example/magic/split-shipment","quantity":1,"buyer":{"firstName":"Mara",` +
		`"lastName":"Okafor","email":"mara.okafor@example.com","phone":"212-555-0142","address1":"48 Juniper Ave",` +
		`"city":"Brooklyn","province":"NY","postalCode":"11215","country":"US"},"paymentMethod":{"type":"drawdown"}}`
	answer, err := client.Send(ctx, api.Request{Method: http.MethodPost, Path: "/api/v1/checkout-intents", Body: []byte(order)})
	if err != nil {
		t.Fatal(err)
	}
	in, err := api.DecodeIntent(answer.Shown(true))
	if err != nil || in.State != api.RetrievingOffer {
		t.Fatalf("created %v, %v", in, err)
	}
	in = until(ctx, t, client, in.ID, api.AwaitingConfirmation)
	if total, ok := in.Total(); !ok || total.Currency != "USD" || total.Subunits <= 0 {
		t.Errorf("the total is %v", total)
	}
	if event, err := client.Event(ctx, "evt_"+in.ID+"_awaiting_confirmation"); err != nil || event.Source.ID != in.ID {
		t.Errorf("its event is %v, %v", event, err)
	}
	if in, err = client.ConfirmIntent(ctx, in.ID, api.ConfirmIntent{}); err != nil || in.State != api.PlacingOrder {
		t.Fatalf("confirmed %v, %v", in, err)
	}
	if again, err := client.ConfirmIntent(ctx, in.ID, api.ConfirmIntent{}); err != nil || again.ID != in.ID {
		t.Errorf("confirmed again under the same key: %v, %v", again, err)
	}
	var file struct{ Orders int }
	if err := client.Control(ctx, http.MethodGet, "/control/intents/"+string(in.ID), nil, &file); err != nil || file.Orders != 1 {
		t.Errorf("%d orders: %v", file.Orders, err)
	}
	other := api.ConfirmIntent{Payment: &api.PaymentMethod{Type: api.VaultToken, Token: api.NewSecret("tok")}}
	if _, err := client.ConfirmIntent(ctx, in.ID, other); !errors.Is(err, api.ErrValidation) || api.IsUnknownOutcome(err) {
		t.Errorf("confirmed otherwise under the same key: %v", err)
	}
	if in = until(ctx, t, client, in.ID, api.Completed); len(in.OrderIDs) != 1 {
		t.Errorf("the order ids are %v", in.OrderIDs)
	}
	for _, id := range delivered(ctx, t, client, in.ID) {
		if parcel, err := client.Shipment(ctx, id); err != nil || parcel.IntentID != in.ID {
			t.Errorf("shipment %v of %s, %v", parcel, parcel.IntentID, err)
		}
	}
	stop() // so that no shipment comes while they are listed
	listAll(ctx, t, client)
}

// run lets a simulator live until it is stopped.
func run(ctx context.Context, t *testing.T, sim *simulator.Simulator) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		if err := sim.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() {
		cancel()
		owned.Wait()
	}
}

// until reads an intent until it is in a state.
func until(ctx context.Context, t *testing.T, client *api.Client, id api.ID, state api.IntentState) api.Intent {
	t.Helper()
	for {
		in, err := client.Intent(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if in.State == state {
			return in
		}
		if in.State.Rank() > state.Rank() {
			t.Fatalf("the intent passed from before %s to %s", state, in.State)
		}
	}
}

// delivered reads the shipments of an intent until both are delivered.
func delivered(ctx context.Context, t *testing.T, client *api.Client, id api.ID) []api.ID {
	t.Helper()
	for {
		var all []api.ID
		for parcel, err := range client.IntentShipments(ctx, id) {
			if err != nil {
				t.Fatal(err)
			}
			if parcel.Status == api.Delivered {
				all = append(all, parcel.ID)
			}
		}
		if len(all) == 2 {
			return all
		}
	}
}

// listAll pages through all shipments, and reads some of them by their ids.
func listAll(ctx context.Context, t *testing.T, client *api.Client) {
	t.Helper()
	listed := func(query api.ShipmentQuery) (ids []api.ID) {
		for parcel, err := range client.Shipments(ctx, query) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, parcel.ID)
		}
		return ids
	}
	whole, paged := listed(api.ShipmentQuery{}), listed(api.ShipmentQuery{Limit: 3})
	if len(whole) < 10 || !slices.Equal(paged, whole) {
		t.Errorf("in one page %v, in many %v", whole, paged)
	}
	if some := listed(api.ShipmentQuery{IDs: whole[3:6]}); !slices.Equal(some, whole[3:6]) {
		t.Errorf("by id: %v, want %v", some, whole[3:6])
	}
}
