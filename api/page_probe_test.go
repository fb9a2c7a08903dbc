package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestListsThatAreNotServedAreProbedOnce(t *testing.T) {
	for _, status := range []int{403, 404, 405, 501} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var asked []string
			var seen []Exchange
			client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Path)
				w.WriteHeader(status)
				io.WriteString(w, "<html><title>Error</title>")
			}, func(c *Config) { c.Observe = func(e Exchange) { seen = append(seen, e) } })
			for range 3 {
				for _, err := range []error{drain(client.Intents(t.Context())), drain(client.Events(t.Context()))} {
					if !errors.Is(err, ErrNotServed) {
						t.Errorf("got %v", err)
					}
				}
			}
			same(t, "asked", fmt.Sprint(asked), "[/shop/api/v1/checkout-intents /shop/api/v1/events]")
			for _, exchange := range seen {
				if exchange.Status != status || exchange.Err != nil {
					t.Errorf("observed as %d with %v, want no failure", exchange.Status, exchange.Err)
				}
			}
			if err := drain(client.Shipments(t.Context(), ShipmentQuery{})); err == nil || seen[len(seen)-1].Err == nil {
				t.Error("a list that the contract shows may be absent")
			}
		})
	}
}

func TestAListThatBeganIsServed(t *testing.T) {
	var seen []Exchange
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			io.WriteString(w, `{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"data":[{"id":"ci_1"}]}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}, func(c *Config) { c.Observe = func(e Exchange) { seen = append(seen, e) } })
	for range 2 {
		if err := drain(client.Intents(t.Context())); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotServed) {
			t.Errorf("got %v", err)
		}
	}
	same(t, "requests", len(seen), 4)
	same(t, "a lost page is a failure", seen[1].Err != nil, true)
}

func TestListsThatAreServedAreListed(t *testing.T) {
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			io.WriteString(w, `[{"id":"e","type":"t","source":{"id":"s","type":"x"}}]`)
			return
		}
		io.WriteString(w, `{"data":[{"id":"ci_1"},{"id":"ci_2"}]}`)
	})
	count := 0
	for intent, err := range client.Intents(t.Context()) {
		if err != nil || intent.ID == "" {
			t.Fatal(intent, err)
		}
		count++
	}
	for event, err := range client.Events(t.Context()) {
		if err != nil || event.ID != "e" {
			t.Fatal(event, err)
		}
		count++
	}
	same(t, "items", count, 3)
}

func TestOtherFailuresOfAProbeAreNotRemembered(t *testing.T) {
	status := 401
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, `[]`)
	})
	if err := drain(client.Intents(t.Context())); !errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrNotServed) {
		t.Fatalf("got %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := drain(client.Intents(canceled)); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	status = 200
	if err := drain(client.Intents(t.Context())); err != nil {
		t.Fatalf("got %v", err)
	}
}
