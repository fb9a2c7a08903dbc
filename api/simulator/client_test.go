package simulator_test

import (
	"context"
	"errors"
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

	in, err := client.CreateIntent(ctx, api.CreateIntent{
		ProductURL: "https://spice-lab.example/magic/split-shipment", Quantity: 1, Buyer: buyer(), Payment: &api.PaymentMethod{Type: api.Drawdown},
	})
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
	if again, err := client.ConfirmIntent(ctx, in.ID, api.ConfirmIntent{}); err != nil || again.ID != in.ID || sim.Orders(string(in.ID)) != 1 {
		t.Errorf("confirmed again under the same key: %v, %v, %d orders", again, err, sim.Orders(string(in.ID)))
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
	listBothWays(ctx, t, client)
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

func buyer() api.Buyer {
	return api.Buyer{
		FirstName: "Mara", LastName: "Okafor", Email: "mara.okafor@example.com", Phone: "212-555-0142",
		Address1: "48 Juniper Ave", City: "Brooklyn", Province: "NY", PostalCode: "11215", Country: "US",
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

// listBothWays pages through all shipments forward, and back from the last.
func listBothWays(ctx context.Context, t *testing.T, client *api.Client) {
	t.Helper()
	forward, last := pages(ctx, t, client, api.ShipmentQuery{Limit: 3})
	backward, _ := pages(ctx, t, client, api.ShipmentQuery{Limit: 3, Before: last})
	slices.Reverse(backward)
	ids := slices.Concat(backward...)
	if whole := slices.Concat(forward...); len(whole) < 10 || !slices.Equal(ids, whole[:len(ids)]) || len(ids) < len(whole)-3 {
		t.Errorf("forward %v, backward %v", whole, ids)
	}
	some, _ := pages(ctx, t, client, api.ShipmentQuery{IDs: forward[1], Statuses: api.ShipmentStatuses()})
	if got := slices.Concat(some...); !slices.Equal(got, forward[1]) {
		t.Errorf("by id: %v, want %v", got, forward[1])
	}
}

// pages is the ids of each page, and the first cursor of the last page.
func pages(ctx context.Context, t *testing.T, client *api.Client, query api.ShipmentQuery) (ids [][]api.ID, last string) {
	t.Helper()
	for page, err := range client.ShipmentPages(ctx, query) {
		if err != nil {
			t.Fatal(err)
		}
		var of []api.ID
		for _, parcel := range page.Items {
			of = append(of, parcel.ID)
		}
		if len(of) > 0 {
			ids, last = append(ids, of), page.Start
		}
	}
	return ids, last
}
