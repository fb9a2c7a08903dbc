package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"tillwatch/api"
)

// standIn answers like the service, for the examples.
func standIn() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/checkout-intents/ci_1":
			io.WriteString(w, `{"id":"ci_1","state":"awaiting_confirmation","productUrl":"https://spice-lab.example/products/chili-crisp",
				"offer":{"cost":{"total":{"currencyCode":"USD","amountSubunits":4452}}}}`)
		case "/api/v1/checkout-intents/ci_1/confirm":
			w.WriteHeader(http.StatusBadGateway)
		case "/api/v1/shipments":
			io.WriteString(w, `{"pageInfo":{"hasNextPage":false},"data":[{"id":"shp_1","status":"shipped"},{"id":"shp_2","status":"delivered"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"name":"NotFoundError","message":"Checkout intent not found"}`)
		}
	}))
}

// A first look at an intent: make a client, read, tell the kinds of errors apart.
func Example() {
	service := standIn()
	defer service.Close()
	client, err := api.New(api.Config{BaseURL: service.URL, Key: api.NewSecret("shop/staging-0123456789")})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()

	intent, err := client.Intent(ctx, "ci_1")
	if err != nil {
		fmt.Println(err)
		return
	}
	total, _ := intent.Total()
	fmt.Println(client.Environment().Name, intent.ProductName(), intent.State, total)

	_, err = client.Intent(ctx, "ci_2")
	fmt.Println(errors.Is(err, api.ErrNotFound), err)

	// Output:
	// staging Chili Crisp awaiting_confirmation 44.52 USD
	// true GET /api/v1/checkout-intents/ci_2: 404 not found: Checkout intent not found
}

// Lists are read page by page as they are walked.
func ExampleClient_Shipments() {
	service := standIn()
	defer service.Close()
	client, err := api.New(api.Config{BaseURL: service.URL, Key: api.NewSecret("shop/staging-0123456789")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for shipment, err := range client.Shipments(context.Background(), api.ShipmentQuery{Limit: 100}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(shipment.ID, shipment.Status)
	}

	// Output:
	// shp_1 shipped
	// shp_2 delivered
}

// A confirm is sent once. An error that leaves the outcome unknown is settled by
// reading the intent, never by sending again.
func ExampleIsUnknownOutcome() {
	service := standIn()
	defer service.Close()
	client, err := api.New(api.Config{BaseURL: service.URL, Key: api.NewSecret("shop/staging-0123456789")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.ConfirmIntent(context.Background(), "ci_1", api.ConfirmIntent{})
	if api.IsUnknownOutcome(err) {
		fmt.Println("unknown:", err)
	}

	// Output:
	// unknown: POST /api/v1/checkout-intents/ci_1/confirm: 502 bad gateway
}

func ExampleMasked() {
	fmt.Printf("%s\n", api.Masked([]byte(`{
		"id": "ci_1",
		"buyer": {"firstName": "Mara", "country": "US"},
		"paymentMethod": {"type": "vault_token", "vaultToken": "23bdad79"}
	}`)))

	// Output:
	// {"id":"ci_1","buyer":{"firstName":"[masked]","country":"US"},"paymentMethod":{"type":"vault_token","vaultToken":"[masked]"}}
}
