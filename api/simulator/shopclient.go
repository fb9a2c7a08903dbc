package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"tillwatch/api"
)

// shopClient is the shop as a separate program: it calls the service over HTTP like any
// shop, for example through a proxy.
type shopClient struct {
	url        string
	key        api.Secret
	lookupPath string
	http       *http.Client
}

func newShopClient(cfg Config) *shopClient {
	return &shopClient{cfg.ShopURL, cfg.Key, cfg.LookupPath, &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{}}}
}

// The User-Agents of the shop's programs.
const (
	storefront = "storefront/2.4"
	orderDesk  = "order-desk/1.9"
	backOffice = "back-office/0.3"
)

// call sends one request and returns its status, 0 if there was no answer. It decodes a
// successful answer into into unless that is nil.
func (c *shopClient) call(ctx context.Context, program, method, path string, body, into any) (status int) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(encoded))
	if err != nil {
		return 0
	}
	if body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", program)
	answer, err := c.http.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err == nil && into != nil && answer.StatusCode/100 == 2 {
		err = json.Unmarshal(read, into)
	}
	if err != nil {
		return 0
	}
	return answer.StatusCode
}

// visit is what the shop does for one customer.
type visit struct {
	order         orderWire
	purchase      bool
	looksUp       bool
	confirms      bool
	polls, ponder time.Duration // between two reads of the intent; from its offer to the confirm
}

// orderWire is the body of a create or a purchase.
type orderWire struct {
	ProductURL        string                 `json:"productUrl"`
	Quantity          int                    `json:"quantity"`
	Buyer             *buyerWire             `json:"buyer"`
	ReferenceID       string                 `json:"referenceId"`
	PromoCodes        []string               `json:"promoCodes,omitempty"`
	VariantSelections []variantSelectionWire `json:"variantSelections,omitempty"`
	PaymentMethod     *paymentWire           `json:"paymentMethod"`
}

// sellOverHTTP serves a customer over HTTP. The caller holds the lock.
func (s *shop) sellOverHTTP(w intentWire, payment *paymentWire, fate Fate, looksUp, confirms bool) {
	v := visit{
		order:    orderWire{w.ProductURL, w.Quantity, w.Buyer, w.ReferenceID, w.PromoCodes, w.VariantSelections, payment},
		purchase: fate.Purchase, looksUp: looksUp, confirms: confirms,
		polls: s.cfg.vary(s.dice, 3*time.Second), ponder: s.cfg.vary(s.dice, 6*time.Second),
	}
	s.fates[fateKey(w.ReferenceID, w.ProductURL)] = fate
	s.goroutines.spawn("the shop", func(ctx context.Context) { s.serveCustomer(ctx, v) })
}

// fateKey identifies an item of an order.
func fateKey(reference, product string) string { return reference + " " + product }

// serveCustomer creates an intent, polls it as a backend would, and confirms it once it
// has an offer. It gives up when it is rejected.
func (s *shop) serveCustomer(ctx context.Context, v visit) {
	if v.looksUp {
		s.client.lookUp(ctx, v.order.ProductURL)
	}
	const path = "/api/v1/checkout-intents"
	to := path
	if v.purchase {
		to += "/purchase"
	}
	var in intentWire
	status := s.client.call(ctx, storefront, http.MethodPost, to, v.order, &in)
	s.mu.Lock()
	delete(s.fates, fateKey(v.order.ReferenceID, v.order.ProductURL))
	s.mu.Unlock()
	if status != http.StatusCreated || !v.confirms {
		return
	}
	own := path + "/" + in.ID
	for in.State == api.RetrievingOffer {
		if api.Sleep(ctx, v.polls) != nil {
			return
		}
		s.client.call(ctx, orderDesk, http.MethodGet, own, nil, &in)
	}
	for pause := v.ponder; in.State == api.AwaitingConfirmation; pause = time.Second {
		if api.Sleep(ctx, pause) != nil || s.client.call(ctx, orderDesk, http.MethodPost, own+"/confirm", struct{}{}, &in) != http.StatusTooManyRequests {
			return
		}
	}
}

// lookUp looks up the price for a page of the shop.
func (c *shopClient) lookUp(ctx context.Context, productURL string) {
	c.call(ctx, storefront, http.MethodGet, c.lookupPath+"?url="+url.QueryEscape(productURL), nil, nil)
}

// browseOverHTTP makes a few reads and a lookup over HTTP, as the shop's own screens do.
// The caller holds the lock.
func (s *shop) browseOverHTTP(reads int) {
	productURL := s.catalogue.random(s.dice).url()
	s.goroutines.spawn("the shop", func(ctx context.Context) {
		s.client.lookUp(ctx, productURL)
		for range reads {
			s.client.call(ctx, backOffice, http.MethodGet, "/api/v1/shipments?limit=20", nil, nil)
		}
	})
}
