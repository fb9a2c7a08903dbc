package relay

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"tillwatch/api"
)

// The signature counts over the bytes as they arrive: nothing is decompressed.
func TestABodyWithAContentEncodingIsVerifiedAsItArrives(t *testing.T) {
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(eventBody(1))
	_ = w.Close()
	for _, test := range []struct {
		name         string
		signed, sent []byte
		status       int
		stored       int64
		reason       string // "": it is not quarantined
	}{
		{"signed compressed", deflated.Bytes(), deflated.Bytes(), http.StatusOK, 0, "compressed (Content-Encoding: deflate), so it cannot be read"},
		{"signed before it was compressed", eventBody(1), deflated.Bytes(), http.StatusUnauthorized, 0, ""},
		{"signed compressed and decompressed on the way", deflated.Bytes(), eventBody(1), http.StatusUnauthorized, 0, ""},
		{"not compressed, whatever the header says", eventBody(1), eventBody(1), http.StatusOK, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory := newMemory(t)
			req := signedRequest(test.sent)
			req.Header.Set("x-svc-signature", sign(testSecret, test.signed))
			req.Header.Set("Content-Encoding", "deflate")
			if w := serve(newTestRelay(t, memory, nil).Ingest(), req); w.Code != test.status {
				t.Errorf("answered %d %s, want %d", w.Code, w.Body, test.status)
			}
			if head := headOf(t, memory); head != test.stored {
				t.Errorf("%d events are stored, want %d", head, test.stored)
			}
			aside, err := memory.Quarantined(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if test.reason == "" && len(aside) == 0 {
				return
			}
			if len(aside) != 1 || aside[0].Reason != test.reason || !bytes.Equal(aside[0].Body, test.sent) {
				t.Errorf("quarantined is %+v, want the body as it came, because it is %q", aside, test.reason)
			}
		})
	}
}

func TestAnEventBehindAByteOrderMarkIsStoredAsItCame(t *testing.T) {
	memory := newMemory(t)
	body := append([]byte("\ufeff"), eventBody(1)...)
	if w := serve(newTestRelay(t, memory, nil).Ingest(), signedRequest(body)); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != 1 || !bytes.Equal(records[0].Body, body) {
		t.Fatalf("stored: %v, %v", records, err)
	}
	if item := itemFrom(itemOf(records[0])); item.Event.Source.ID == "" || !bytes.Equal(item.Event.Raw, body) {
		t.Errorf("read as %+v", item.Event)
	}
}

func TestEventsWhoseIDsDifferInHalvesOfSurrogatePairsAreBothStored(t *testing.T) {
	var events []api.Event
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	for _, id := range []string{`evt_\ud83d_q`, `evt_\ud83e_q`, `evt_\ud83d\ud83d_q`, "evt_\ufffd_q"} {
		body := []byte(`{"id":"` + id + `","type":"a","source":{"type":"b","id":"c"}}`)
		for _, outcome := range []string{"stored", "repeated"} {
			if w := serve(r.Ingest(), signedRequest(body)); w.Code != http.StatusOK {
				t.Errorf("%s, %s: %d %s", id, outcome, w.Code, w.Body)
			}
		}
		event, err := api.DecodeEvent(body)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != len(events) {
		t.Fatalf("%d events are stored, want %d: %v", len(records), len(events), err)
	}
	for i, record := range records {
		if record.Duplicates != 1 || record.Conflicts != 0 || !bytes.Equal(record.Body, events[i].Raw) {
			t.Errorf("%+v", record)
		}
		text, err := json.Marshal(itemOf(record))
		var sent wireItem
		if err = cmp.Or(err, json.Unmarshal(text, &sent)); err != nil || sent.ID != record.ID || itemFrom(sent).Event.ID != events[i].ID {
			t.Errorf("%q is sent as %q, %v", record.ID, sent.ID, err)
		}
		found, ok, err := memory.Find(t.Context(), string(events[i].ID))
		if err != nil || !ok || found.Seq != record.Seq {
			t.Errorf("%q is not found by its id: %v", events[i].ID, err)
		}
	}
}

// What follows a request of doubtful length on its connection may be a part of
// it, or a request that somebody has smuggled in.
func TestAConnectionEndsWhereTheLengthOfARequestIsInDoubt(t *testing.T) {
	body := eventBody(1)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	signature := "X-Svc-Signature: " + sign(testSecret, body) + "\r\n"
	post := "POST " + WebhookPath + " HTTP/1.1\r\nHost: x\r\n" + signature
	for _, test := range []struct {
		name, request string
		status        int
		ends          bool
	}{
		{"a length", post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), 200, false},
		{"no body", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", 200, false},
		{"both a length and chunks", post + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s", len(chunked), chunked), 200, true},
		{"both, the other way round", post + fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n%s", chunked), 200, true},
		{"both, unsigned", "POST " + WebhookPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 401, true},
		{"both, where there is nothing", "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 404, true},
		{"both, at a probe", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, true},
		{"both, by HTTP/1.0", fmt.Sprintf("POST "+WebhookPath+" HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n%sContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s",
			signature, len(body), body), 200, true},
		{"chunks alone, which the server cannot tell from both", post + "Transfer-Encoding: chunked\r\n\r\n" + chunked, 200, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, n := newTestRelay(t, newMemory(t), nil), newNetwork()
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- r.Serve(ctx, n) }()
				c, err := n.dial(ctx, "", "")
				if err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.WriteString(c, test.request+"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n") }()
				answers := bufio.NewReader(c)
				answer, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				if answer.StatusCode != test.status || answer.Close != test.ends {
					t.Errorf("%d, says that it closes: %v", answer.StatusCode, answer.Close)
				}
				if _, err := http.ReadResponse(answers, nil); (err != nil) != test.ends {
					t.Errorf("what followed was answered: %v", err == nil)
				}
				_ = c.Close()
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestPagesOfAllowedOriginsMayDeliver(t *testing.T) {
	const shop = "https://shop.example"
	for _, test := range []struct {
		name    string
		allowed []string
		origin  string
		status  int // of the preflight
		marked  string
	}{
		{"an allowed origin", []string{"https://other.example", shop}, shop, http.StatusNoContent, shop},
		{"an allowed origin in other case", []string{"https://Shop.example"}, shop, http.StatusNoContent, shop},
		{"another origin", []string{shop}, "https://evil.example", http.StatusMethodNotAllowed, ""},
		{"another port", []string{shop}, shop + ":8443", http.StatusMethodNotAllowed, ""},
		{"no origin", []string{shop}, "", http.StatusMethodNotAllowed, ""},
		{"none allowed", nil, shop, http.StatusMethodNotAllowed, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.AllowedOrigins = test.allowed })
			preflight := httptest.NewRequest(http.MethodOptions, WebhookPath, nil)
			delivered := signedRequest(eventBody(1))
			for _, req := range []*http.Request{preflight, delivered} {
				if test.origin != "" {
					req.Header.Set("Origin", test.origin)
				}
			}
			w := serve(r.Ingest(), preflight)
			if w.Code != test.status || w.Header().Get("Access-Control-Allow-Origin") != test.marked {
				t.Errorf("preflight: %d %v", w.Code, w.Header())
			}
			const headers = "content-type, x-svc-signature, x-svc-event-id, x-svc-timestamp, x-svc-topic"
			if allowed := w.Header().Get("Access-Control-Allow-Headers"); (allowed == headers) != (test.marked != "") {
				t.Errorf("preflight allows %q", allowed)
			}
			w = serve(r.Ingest(), delivered)
			if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != test.marked {
				t.Errorf("delivery: %d %v", w.Code, w.Header())
			}
		})
	}
}
