package api

import (
	"context"
	"iter"
	"net/http"
	"time"

	"tillwatch/api/quota"
)

// Pacer decides when a request may go out.
type Pacer interface {
	Acquire(ctx context.Context, class quota.Class) (quota.Permit, error)
}

// Config says how to reach the service.
type Config struct {
	BaseURL    string // required, http or https, without /api/v1
	Key        Secret // required
	LookupPath string // default /api/v1/products/lookup
	UserAgent  string
	Timeout    time.Duration  // of one attempt; default 15 s
	Retries    int            // of reads, after the first attempt; default 2
	Pacer      Pacer          // default: none
	Observe    func(Exchange) // called after each attempt; default: nobody
	Transport  http.RoundTripper
}

// Client calls the service.
type Client struct{}

// New checks cfg and makes a client. It opens no connection.
func New(cfg Config) (*Client, error) { panic("unwritten") }

// Environment names what the base address points at: "production", "staging",
// "simulator" for a loopback address, or else the host.
func (c *Client) Environment() string { panic("unwritten") }

// Event reads an event (contract, Retrieve event; scope events:read).
func (c *Client) Event(ctx context.Context, id ID) (Event, error) { panic("unwritten") }

// Intent reads a checkout intent with its current state.
func (c *Client) Intent(ctx context.Context, id ID) (Intent, error) { panic("unwritten") }

// CreateIntent creates a checkout intent. It is sent once, never again by
// itself.
func (c *Client) CreateIntent(ctx context.Context, body CreateIntent) (Intent, error) {
	panic("unwritten")
}

// Purchase creates a checkout intent in one step. It is sent once.
func (c *Client) Purchase(ctx context.Context, body CreateIntent) (Intent, error) {
	panic("unwritten")
}

// ConfirmIntent submits an intent for purchase. It is sent once, never again by
// itself: an error that is not an answer of the service leaves the outcome
// unknown (see [IsUnknownOutcome]).
func (c *Client) ConfirmIntent(ctx context.Context, id ID, body ConfirmIntent) (Intent, error) {
	panic("unwritten")
}

// IntentShipments lists the shipments of an intent, page by page.
func (c *Client) IntentShipments(ctx context.Context, id ID) iter.Seq2[Shipment, error] {
	panic("unwritten")
}

// Shipments lists shipments, page by page.
func (c *Client) Shipments(ctx context.Context, query ShipmentQuery) iter.Seq2[Shipment, error] {
	panic("unwritten")
}

// Shipment reads one shipment.
func (c *Client) Shipment(ctx context.Context, id ID) (Shipment, error) { panic("unwritten") }

// LookupProduct looks a product URL up, in its own bucket.
func (c *Client) LookupProduct(ctx context.Context, productURL string) (Product, error) {
	panic("unwritten")
}

// Intents lists intents, newest first where the service says nothing else, if it
// answers such a list at all (the contract does not show one). A service without
// it yields one error that is [ErrNotServed]; that is remembered.
func (c *Client) Intents(ctx context.Context) iter.Seq2[Intent, error] { panic("unwritten") }

// Events lists events, as [Client.Intents] lists intents.
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] { panic("unwritten") }
