package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// padded is an event whose body has exactly size bytes.
func padded(n, size int) []byte {
	body := eventBody(n)
	return append(body, bytes.Repeat([]byte(" "), size-len(body))...)
}

func TestBodiesUpToOneMebibytePass(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		for i, test := range []struct {
			size int
			want int
		}{
			{16<<10 - 1, http.StatusOK},
			{16 << 10, http.StatusOK},
			{16<<10 + 1, http.StatusOK},
			{MaxBody, http.StatusOK},
			{MaxBody + 1, http.StatusRequestEntityTooLarge},
			{2 * MaxBody, http.StatusRequestEntityTooLarge},
		} {
			t.Run(fmt.Sprintf("%d bytes, chunked %v", test.size, chunked), func(t *testing.T) {
				memory := newMemory(t)
				r := newTestRelay(t, memory, nil)
				body := padded(i, test.size)
				req := signedRequest(body)
				if chunked {
					req.ContentLength = -1
				}
				if w := serve(r.Ingest(), req); w.Code != test.want {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
				records, err := memory.Read(t.Context(), 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				if stored := len(records) == 1 && bytes.Equal(records[0].Body, body); stored != (test.want == http.StatusOK) {
					t.Errorf("stored: %v", stored)
				}
			})
		}
	}
}

// endless is a body without end that counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestEndlessBodiesAreCutOffAtTheLimit(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	var wg sync.WaitGroup
	for range 23 {
		wg.Go(func() {
			body := &endless{}
			req := httptest.NewRequest(http.MethodPost, WebhookPath, body)
			req.ContentLength = -1
			req.Header.Set("x-svc-signature", "v0="+strings.Repeat("0", 64))
			if w := serve(r.Ingest(), req); w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if read := body.read.Load(); read > MaxBody+16<<10 {
				t.Errorf("%d bytes were read", read)
			}
		})
	}
	wg.Wait()
}

func TestABodyThatBreaksOffIsNotStored(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	for _, length := range []int64{int64(len(eventBody(1))) + 1, 16<<10 + 10, -1} {
		req := signedRequest(eventBody(1))
		req.Body = io.NopCloser(io.MultiReader(bytes.NewReader(eventBody(1)), broken{}))
		req.ContentLength = length
		if w := serve(r.Ingest(), req); w.Code != http.StatusBadRequest {
			t.Errorf("length %d: %d %s", length, w.Code, w.Body)
		}
	}
	if headOf(t, memory) != 0 {
		t.Error("a broken body was stored")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestMethodsAndPaths(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	for _, test := range []struct {
		handler      http.Handler
		method, path string
		status       int
	}{
		{r.Ingest(), http.MethodGet, WebhookPath, http.StatusMethodNotAllowed},
		{r.Ingest(), http.MethodPut, WebhookPath, http.StatusMethodNotAllowed},
		{r.Ingest(), http.MethodPost, "/webhooks/more", http.StatusNotFound},
		{r.Ingest(), http.MethodPost, "/", http.StatusNotFound},
		{r.Ingest(), http.MethodGet, EventsPath, http.StatusNotFound},
		{r.Ingest(), http.MethodGet, StreamPath, http.StatusNotFound},
		{r.Admin(), http.MethodPost, WebhookPath, http.StatusNotFound},
		{r.Admin(), http.MethodDelete, EventsPath, http.StatusMethodNotAllowed},
	} {
		w := serve(test.handler, httptest.NewRequest(test.method, test.path, nil))
		if w.Code != test.status {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, w.Code, test.status)
		}
		if test.path == WebhookPath && w.Code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s %s allows %q", test.method, test.path, w.Header().Get("Allow"))
		}
	}
}

func TestTheChallengeIsAnsweredAtOnceWhateverTheStoreDoes(t *testing.T) {
	for name, hinder := range map[string]func(*faultyJournal) (end func()){
		"a read-only store": func(m *faultyJournal) func() { m.Fail(errors.New("read-only")); return func() {} },
		"a stalled store":   (*faultyJournal).Stall,
		"a closed store":    func(m *faultyJournal) func() { _ = m.Close(); return func() {} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := newMemory(t)
				defer hinder(memory)()
				r := newTestRelay(t, memory, nil)
				began := time.Now()
				expectChallengeAnswered(t, r)
				if waited := time.Since(began); waited != 0 {
					t.Errorf("answered after %v", waited)
				}
			})
		})
	}
}

func expectChallengeAnswered(t *testing.T, r *Relay) {
	t.Helper()
	id := `we_"quoted"/ünï`
	body, err := json.Marshal(map[string]any{
		"id": "evt_1", "object": "event", "type": "webhook_endpoint.verification_challenge",
		"createdAt": "2026-04-21T03:27:50.000Z", "source": map[string]string{"type": "webhook_endpoint", "id": id},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := serve(r.Ingest(), signedRequest(body))
	var answer map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusOK || len(answer) != 1 || answer["challenge"] != id ||
		w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	unsigned := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(body))
	if w := serve(r.Ingest(), unsigned); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "we_") {
		t.Errorf("unsigned: %d %s", w.Code, w.Body)
	}
}

func TestAChallengeNeedsNothingButItsTypeAndSource(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	w := serve(r.Ingest(), signedRequest([]byte(`{"type":"webhook_endpoint.verification_challenge","source":{"id":"we_1"}}`)))
	if w.Code != http.StatusOK || w.Body.String() != `{"challenge":"we_1"}`+"\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestASignedBodyThatIsNoEventIsKeptAside(t *testing.T) {
	for name, test := range map[string]struct{ body, reason string }{
		"empty":                       {"", "not JSON"},
		"text":                        {"hello", "not JSON"},
		"cut off":                     {`{"id":"evt_1","type":"a"`, "not JSON"},
		"two values":                  {`{"id":"evt_1","type":"a"} {}`, "not JSON"},
		"deeper than a person writes": {strings.Repeat("[", 100_000), "not JSON"},
		"not UTF-8":                   {"{\"id\":\"\xff\",\"type\":\"a\"}", "not UTF-8"},
		"a list":                      {`[{"id":"evt_1","type":"a"}]`, "not a JSON object"},
		"no id":                       {`{"type":"a"}`, "no id"},
		"a number as id":              {`{"id":1,"type":"a"}`, "no id"},
		"no type":                     {`{"id":"evt_1","type":null}`, "no type"},
		"a challenge of nothing":      {`{"id":"evt_1","type":"webhook_endpoint.verification_challenge"}`, "a challenge without source.id"},
	} {
		t.Run(name, func(t *testing.T) {
			memory := newMemory(t)
			r := newTestRelay(t, memory, nil)
			if w := serve(r.Ingest(), signedRequest([]byte(test.body))); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			kept, err := memory.Quarantined(t.Context(), 10)
			if err != nil || len(kept) != 1 || string(kept[0].Body) != test.body || kept[0].Reason != test.reason {
				t.Errorf("kept %+v, %v", kept, err)
			}
			if headOf(t, memory) != 0 {
				t.Error("it is in the journal as well")
			}
			memory.Fail(errors.New("disk full"))
			if w := serve(r.Ingest(), signedRequest([]byte(test.body))); w.Code != http.StatusServiceUnavailable {
				t.Errorf("while the journal fails: %d", w.Code)
			}
		})
	}
}

func TestWhatIsNotPromisedIsTolerated(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	bodies := []string{
		`{"id":"evt_shop.example:chili/crisp","type":"product.exploded"}`,
		"\r\n{ \"type\" : \"a\",\r\n \"id\" : \"e\\u0076t_2\", \"new\": [1,{\"id\":\"evt_inner\"}], \"createdAt\": 17 }\n",
		`{"id":"first","id":"evt_3","type":"a","createdAt":"9999-12-31T23:59:59-12:00"}`,
	}
	for _, body := range bodies {
		if w := serve(r.Ingest(), signedRequest([]byte(body))); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != len(bodies) {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, id := range []string{"evt_shop.example:chili/crisp", "evt_2", "evt_3"} {
		if records[i].ID != id || string(records[i].Body) != bodies[i] || !records[i].CreatedAt.IsZero() {
			t.Errorf("record %d is %+v", i+1, records[i])
		}
	}
}

func TestTheCreationOfAnEventIsReadInAnyFormOfISO8601(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	forms := []string{"2026-04-21T03:27:50.000Z", "2026-04-21T03:27:50Z", "2026-04-21T03:27:50", "2026-04-21T05:27:50+02:00", "2026-04-21T05:27:50.000+0200"}
	for i, created := range forms {
		body := fmt.Appendf(nil, `{"id":"evt_%d","type":"shipment.updated","createdAt":%q}`, i, created)
		if w := serve(r.Ingest(), signedRequest(body)); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	records, err := memory.Read(t.Context(), 0, 10)
	if err != nil || len(records) != len(forms) {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, record := range records {
		if want := time.Date(2026, 4, 21, 3, 27, 50, 0, time.UTC); !record.CreatedAt.Equal(want) {
			t.Errorf("%s is read as %v", forms[i], record.CreatedAt)
		}
	}
}

func TestAStalledStoreIsAnswered503WithinTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		release := memory.Stall()
		began := time.Now()
		w := serve(r.Ingest(), signedRequest(eventBody(1)))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if waited := time.Since(began); waited > 3*time.Second {
			t.Errorf("answered after %v", waited)
		}
		release()
		deliver(t, r.Ingest(), 1, 1)
		deliver(t, r.Ingest(), 1, 1)
		if head := headOf(t, memory); head != 1 {
			t.Errorf("the head is %d after a retry of the same event", head)
		}
	})
}

func TestAFailingStoreIsAnswered503AndRecovers(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	memory.Fail(errors.New("disk full"))
	w := serve(r.Ingest(), signedRequest(eventBody(1)))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "disk full") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	memory.Fail(nil)
	deliver(t, r.Ingest(), 1, 1)
}

func FuzzDelivery(f *testing.F) {
	f.Add(eventBody(1))
	f.Add([]byte(`{"id":"a","type":"b","createdAt":"2026-04-21T03:27:50Z","source":{"id":"c"}}`))
	f.Add([]byte(`{"id":"\ud800","type":""}`))
	f.Add([]byte(`{"type":"webhook_endpoint.verification_challenge","source":{"id":"c"}}`))
	f.Add([]byte(" {\t\"id\" : \"evt_\\u0031\" ,\r\n\"type\":\"a\",\"id\":\"b\",\"createdAt\":\"+026-04-21T03:27:50Z\"} \n"))
	f.Add([]byte(`{"id":"evt_1","type":"a","createdAt":"9999-12-31T23:59:59.999999999Z","source":"c"} {}`))
	f.Add([]byte("{\"id\":\"evt_\x00\xff\",\"type\":\"a\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := readDelivery(body)
		challenge := d.kind == string(api.VerificationChallenge)
		if err == nil && (d.id == "" && !challenge || d.kind == "" || !json.Valid(bytes.TrimPrefix(body, []byte("\ufeff")))) {
			t.Errorf("%q is read as %+v", body, d)
		}
		if _, err := json.Marshal(d.created); err != nil {
			t.Errorf("%q has a time that cannot be sent: %v", body, err)
		}
	})
}
