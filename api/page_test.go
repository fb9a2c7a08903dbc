package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestEveryFixturePageDecodes(t *testing.T) {
	for _, f := range fixtures(t, "08-pages.json") {
		t.Run(f.Name, func(t *testing.T) {
			got, err := decodePage(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			want := oracle[struct {
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
				Data []struct{ ID string }
			}](t, f.Body)
			same(t, "next", got.next, want.PageInfo.HasNextPage)
			same(t, "end", got.end, want.PageInfo.EndCursor)
			same(t, "items", len(got.items), len(want.Data))
			for i, item := range got.items {
				id, err := decodeIdentity(f.Schema, item)
				if err != nil || string(id) != want.Data[i].ID {
					t.Errorf("item %d: got %q, %v", i, id, err)
				}
			}
		})
	}
}

func decodeIdentity(schema string, item []byte) (ID, error) {
	switch schema {
	case "EventListResponse":
		event, err := DecodeEvent(item)
		return event.ID, err
	case "CheckoutIntentListResponse":
		intent, err := DecodeIntent(item)
		return intent.ID, err
	}
	shipment, err := DecodeShipment(item)
	return shipment.ID, err
}

// pageServer answers by cursor, and counts.
type pageServer struct {
	t        *testing.T
	pages    map[string]string // body by cursor
	requests []string
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.URL.RawQuery)
	body, ok := s.pages[r.URL.Query().Get("after")]
	if !ok {
		s.t.Errorf("asked for %s", r.URL)
	}
	io.WriteString(w, body)
}

func TestListsFollowCursorsAndStop(t *testing.T) {
	envelope := func(info string, ids ...string) string {
		items := make([]string, len(ids))
		for i, id := range ids {
			items[i] = fmt.Sprintf(`{"id":%q}`, id)
		}
		return fmt.Sprintf(`{"pageInfo":%s,"data":[%s]}`, info, strings.Join(items, ","))
	}
	tests := []struct {
		name       string
		pages      map[string]string
		want       string
		incomplete string // what the error says; "": the list is whole
	}{
		{"three pages", map[string]string{
			"":  envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1", "2"),
			"a": envelope(`{"hasNextPage":true,"endCursor":"b"}`, "3"),
			"b": envelope(`{"hasNextPage":false,"endCursor":"c"}`, "4"),
		}, "1 2 3 4", ""},
		{"a bare array", map[string]string{"": `[{"id":"1"},null,{"id":"2"}]`}, "1 2", ""},
		{"no page info", map[string]string{"": `{"data":[{"id":"1"}]}`}, "1", ""},
		{"page info is null", map[string]string{"": `{"pageInfo":null,"data":[{"id":"1"}]}`}, "1", ""},
		{"null cursor", map[string]string{"": envelope(`{"hasNextPage":true,"endCursor":null}`, "1")}, "1", "no cursor"},
		{"missing cursor", map[string]string{"": envelope(`{"hasNextPage":true}`, "1")}, "1", "no cursor"},
		{"a cursor without a promise", map[string]string{
			"": envelope(`{"endCursor":"a"}`, "1"), "a": envelope(`{"endCursor":"b"}`),
		}, "1", ""},
		{"an empty page between others", map[string]string{
			"":  envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1"),
			"a": envelope(`{"hasNextPage":true,"endCursor":"b"}`),
			"b": envelope(`{"hasNextPage":false}`, "3"),
		}, "1 3", ""},
		{"an empty first page", map[string]string{
			"": envelope(`{"hasNextPage":true,"endCursor":"a"}`), "a": envelope(`{"hasNextPage":false}`, "1"),
		}, "1", ""},
		{"an empty last page", map[string]string{
			"": envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1"), "a": envelope(`{"hasNextPage":false,"endCursor":"b"}`),
		}, "1", ""},
		{"a page of nulls", map[string]string{
			"": `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[null]}`, "a": envelope(`{"hasNextPage":false}`, "1"),
		}, "1", ""},
		{"an empty page that promises more without a cursor", map[string]string{"": envelope(`{"hasNextPage":true}`)}, "", "no cursor"},
		{"an empty page with its own cursor", map[string]string{
			"": envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1"), "a": envelope(`{"hasNextPage":true,"endCursor":"a"}`),
		}, "1", "cursor that came before"},
		{"the same cursor again", map[string]string{
			"": envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1"), "a": envelope(`{"hasNextPage":true,"endCursor":"a"}`, "2"),
		}, "1 2", "cursor that came before"},
		{"a circle", map[string]string{
			"":  envelope(`{"hasNextPage":true,"endCursor":"a"}`, "1"),
			"a": envelope(`{"hasNextPage":true,"endCursor":"b"}`, "2"),
			"b": envelope(`{"hasNextPage":true,"endCursor":"a"}`, "3"),
		}, "1 2 3", "cursor that came before"},
		{"a numeric cursor", map[string]string{
			"": envelope(`{"hasNextPage":true,"endCursor":7}`, "1"), "7": envelope(`{"hasNextPage":false}`, "2"),
		}, "1 2", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := &pageServer{t: t, pages: test.pages}
			client := clientOf(t, server.ServeHTTP)
			var got []string
			var end error
			for shipment, err := range client.Shipments(t.Context(), ShipmentQuery{Limit: 2}) {
				if end = err; err == nil {
					got = append(got, string(shipment.ID))
				}
			}
			same(t, "items", strings.Join(got, " "), test.want)
			if whole := test.incomplete == ""; whole != (end == nil) || !whole && (!errors.Is(end, ErrIncomplete) || !strings.Contains(end.Error(), test.incomplete)) {
				t.Errorf("it ended with %v, want %q", end, test.incomplete)
			}
			for _, query := range server.requests {
				if !strings.Contains(query, "limit=2") {
					t.Errorf("a page was asked for without the filter: %s", query)
				}
			}
		})
	}
}

func TestAListOfIntentsThatEndsBeforeItsLastPageIsAnError(t *testing.T) {
	cases := []struct {
		name, first, second string
		whole               bool
	}{
		{"whole", `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[{"id":"1"}]}`, `{"pageInfo":{"hasNextPage":false},"data":[{"id":"2"}]}`, true},
		{"an empty last page", `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[{"id":"1"},{"id":"2"}]}`, `{"pageInfo":{"endCursor":"b"},"data":[]}`, true},
		{"a page that does not say", `{"pageInfo":{"endCursor":"a"},"data":[{"id":"1"}]}`, `{"data":[{"id":"2"}]}`, true},
		{"no cursor", `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[{"id":"1"}]}`, `{"pageInfo":{"hasNextPage":true},"data":[{"id":"2"}]}`, false},
		{"the same cursor again", `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[{"id":"1"}]}`, `{"pageInfo":{"hasNextPage":true,"endCursor":"a"},"data":[{"id":"2"}]}`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := &pageServer{t: t, pages: map[string]string{"": c.first, "a": c.second}}
			items, whole := 0, true
			for _, err := range clientOf(t, server.ServeHTTP).Intents(t.Context()) {
				if err != nil {
					whole = false
				} else {
					items++
				}
			}
			same(t, "items", items, 2)
			same(t, "whole", whole, c.whole)
		})
	}
}

func TestAListStopsWhereItsReaderStops(t *testing.T) {
	server := &pageServer{t: t, pages: map[string]string{"": `{"pageInfo":{"endCursor":"a","hasNextPage":true},"data":[{"id":"1"},{"id":"2"}]}`}}
	for range clientOf(t, server.ServeHTTP).Shipments(t.Context(), ShipmentQuery{}) {
		break
	}
	same(t, "requests", len(server.requests), 1)
}

func TestManyIDsAreAskedForInSeveralLists(t *testing.T) {
	ids := make([]ID, 2*maxQueryIDs+1)
	for i := range ids {
		ids[i] = ID(fmt.Sprintf("shp_%d", i))
	}
	var sizes []int
	status := 200
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()["ids"]
		sizes = append(sizes, len(asked))
		w.WriteHeader(status)
		fmt.Fprintf(w, `[{"id":%q},{"id":%q}]`, asked[0], asked[len(asked)-1])
	})
	var got []string
	for shipment, err := range client.Shipments(t.Context(), ShipmentQuery{IDs: ids}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(shipment.ID))
	}
	same(t, "sizes", fmt.Sprint(sizes), "[100 100 1]")
	same(t, "items", strings.Join(got, " "), "shp_0 shp_99 shp_100 shp_199 shp_200 shp_200")

	sizes, status = nil, 401
	for _, err := range client.Shipments(t.Context(), ShipmentQuery{IDs: ids}) {
		if !errors.Is(err, ErrUnauthorized) {
			t.Errorf("got %v", err)
		}
	}
	same(t, "lists asked for after a refusal", len(sizes), 1)
}

func TestEmptyPagesInARowAreGivenUpSoon(t *testing.T) {
	pages := 0
	client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		pages++
		item := ""
		if pages == 5 {
			item = `{"id":"1"}`
		}
		fmt.Fprintf(w, `{"pageInfo":{"hasNextPage":true,"endCursor":"%d"},"data":[%s]}`, pages, item)
	})
	if err := drain(client.Shipments(t.Context(), ShipmentQuery{})); !errors.Is(err, ErrIncomplete) {
		t.Errorf("got %v", err)
	}
	same(t, "pages", pages, 5+mostEmptyPages)
}

func TestAListThatNeverEndsIsGivenUp(t *testing.T) {
	pages := 0
	client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		pages++
		fmt.Fprintf(w, `{"pageInfo":{"hasNextPage":true,"endCursor":"%d"},"data":[{"id":"1"}]}`, pages)
	})
	err := drain(client.Shipments(t.Context(), ShipmentQuery{}))
	if !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "gave up after 10000 pages") {
		t.Errorf("got %v", err)
	}
	same(t, "pages", pages, maxPages)
}

func TestAnUnreadableItemDoesNotEndAList(t *testing.T) {
	client := clientOf(t, answering(200, `[{"id":"1"},{"no":"id"},"x",{"id":"2"}]`))
	var ids, problems int
	for _, err := range client.Shipments(t.Context(), ShipmentQuery{}) {
		if item := (*ItemError)(nil); errors.As(err, &item) {
			same(t, "index", item.Index, 1+problems)
			same(t, "says which", strings.HasPrefix(err.Error(), fmt.Sprintf("GET /api/v1/shipments: item %d ", item.Index)), true)
			problems++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ids++
	}
	same(t, "shipments", ids, 2)
	same(t, "errors", problems, 2)
}

func TestAListThatIsNoneIsAnError(t *testing.T) {
	const noList = "neither an array nor an object with an array in data"
	for body, says := range map[string]string{
		`{}`: noList, `{"data":{}}`: noList, `{"data":null}`: noList, `"x"`: noList, `null`: noList,
		``: "empty body", "\n": "empty body", `<html>`: "an HTML page", `{"data":[`: "invalid JSON at byte 9 of 9",
	} {
		client := clientOf(t, answering(200, body))
		err := drain(client.Shipments(t.Context(), ShipmentQuery{}))
		var unreadable *UnreadableError
		if !errors.As(err, &unreadable) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want an error that says %q", body, err, says)
		}
	}
}

func FuzzDecodePage(f *testing.F) {
	for _, c := range fixtures(f, "08-pages.json") {
		f.Add([]byte(c.Body))
	}
	f.Add([]byte(`[{"id":"1"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePage(body)
		if err != nil {
			return
		}
		for _, item := range p.items {
			if again, err := DecodeShipment(item); err == nil && string(again.Raw) != string(item) {
				t.Fatalf("item %q became %q", item, again.Raw)
			}
		}
		request, seen := get("/p", nil), map[string]bool{}
		if next, more := following(request, p, seen); more {
			if !seen[next.query.Get("after")] {
				t.Fatal("a cursor that is followed is not remembered")
			}
			if _, more := following(request, p, seen); more {
				t.Fatal("a page is followed twice")
			}
		}
	})
}
