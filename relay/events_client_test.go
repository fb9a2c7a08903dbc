package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

// reading serves r on a socket and returns a reader of it.
func reading(t *testing.T, r *Relay, token string) *Reader {
	t.Helper()
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	reader, err := NewReader(Access{URL: server.URL, Token: api.NewSecret(token)})
	if err != nil {
		t.Fatal(err)
	}
	reader.client.http.Transport = server.Client().Transport
	return reader
}

func TestAReaderShowsOneEventWithItsCursorAndExactBody(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	id := "evt_shop.example:chili/crisp ü?"
	body := fmt.Appendf(nil, "{\"id\":%q,\r\n\"type\":\"product.updated\", \"source\":{\"type\":\"product\",\"id\":\"p/1\"}}", id)
	entries := []journal.Entry{
		{ID: "pruned"},
		{ID: id, Type: "product.updated", Origin: journal.Webhook, Body: body, Received: receivedAt(9)},
	}
	if _, err := memory.Append(t.Context(), append(entries, entries[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := memory.Prune(t.Context(), receivedAt(9)); err != nil {
		t.Fatal(err)
	}
	reader := reading(t, r, testToken)
	item, at, err := reader.Event(t.Context(), id)
	if err != nil || at != "epoch:2" || item.Seq != 2 || !bytes.Equal(item.Event.Raw, body) || item.Duplicates != 1 ||
		item.Origin != "webhook" || !item.Received.Equal(receivedAt(9)) {
		t.Errorf("%+v at %s, %v", item, at, err)
	}
	for gone, says := range map[string]string{"unknown": "no such event", "pruned": "no longer has the body"} {
		if _, _, err := reader.Event(t.Context(), gone); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	for _, step := range []string{"", ".", ".."} {
		if _, _, err := reader.Event(t.Context(), step); err == nil || !strings.Contains(err.Error(), "is not the id of an event") {
			t.Errorf("%q: %v", step, err)
		}
	}
	for back, want := range map[int64]string{0: "epoch:2", 1: "epoch:1", 9: "epoch:0"} {
		if at, err := reader.Head(t.Context(), back); err != nil || at != want {
			t.Errorf("the head less %d is %s, %v", back, at, err)
		}
	}
}

func TestAListOfTheQuarantineIsBoundedByItsBodies(t *testing.T) {
	memory := newMemory(t)
	for i := range 5 {
		body := bytes.Repeat([]byte{byte(i)}, MaxBody-i)
		if err := memory.Quarantine(t.Context(), journal.Unreadable{Received: time.Now(), Reason: "not JSON", Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int]int{1: 1, 2: 2, 50: 2} { // the newest has less than MaxBody
		var found quarantinePage
		w := get(t, newTestRelay(t, memory, nil), fmt.Sprintf("%s?limit=%d", QuarantinePath, limit))
		if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil || len(found.Items) != want || !found.More || found.Items[0].Body[0] != 4 {
			t.Errorf("limit %d: %d items, more %v, %v", limit, len(found.Items), found.More, err)
		}
	}
}

func TestTheQuarantineIsListedTheNewestFirst(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	reader := reading(t, r, testToken)
	if all, more, err := reader.Quarantine(t.Context(), 5); err != nil || len(all) != 0 || more {
		t.Errorf("an empty one: %v %v, %v", all, more, err)
	}
	bodies := []string{"first", "\x00\xff", `{"type":"a"}`}
	for _, body := range bodies {
		if w := serve(r.Ingest(), signedRequest([]byte(body))); w.Code != http.StatusOK {
			t.Fatal(w.Code)
		}
	}
	all, more, err := reader.Quarantine(t.Context(), 2)
	if err != nil || len(all) != 2 || !more || string(all[0].Body) != bodies[2] || all[0].Reason != "no id" ||
		string(all[1].Body) != bodies[1] || all[1].Reason != "not UTF-8" || time.Since(all[1].Received) > time.Hour {
		t.Errorf("%+v %v, %v", all, more, err)
	}
	if all, more, err := reader.Quarantine(t.Context(), 3); err != nil || len(all) != 3 || more {
		t.Errorf("all of them: %v %v, %v", all, more, err)
	}
	for _, limit := range []int{0, 51} {
		if _, _, err := reader.Quarantine(t.Context(), limit); err == nil || !strings.Contains(err.Error(), "from 1 to 50") {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	_ = memory.Close()
	if _, _, err := reader.Quarantine(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a journal that cannot be read: %v", err)
	}
}

func TestAReaderWithoutTheRightSaysWhichItNeeds(t *testing.T) {
	text, token := NewToken("one", []Scope{ScopeStream}, time.Now(), time.Time{})
	r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued = []Token{token} })
	for given, want := range map[string]string{text.Reveal(): "scope read", "wrong": "does not accept the token"} {
		_, _, err := reading(t, r, given).Event(t.Context(), "a")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), given) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, wrong := range []string{"ftp://a", "http://", "http://a?b"} {
		if _, err := NewReader(Access{URL: wrong, Token: text}); err == nil {
			t.Errorf("%s is taken for a relay's address", wrong)
		}
	}
}

func TestAReaderTakesItsTokenToNoRedirect(t *testing.T) {
	var tokens atomic.Int32
	open := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			tokens.Add(1)
		}
	}))
	defer open.Close()
	closed := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, open.URL+r.URL.Path, http.StatusPermanentRedirect)
	}))
	defer closed.Close()
	reader, err := NewReader(Access{URL: closed.URL, Token: api.NewSecret(testToken)})
	if err != nil {
		t.Fatal(err)
	}
	reader.client.http.Transport = closed.Client().Transport
	if _, _, err := reader.Event(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "redirects (308)") || tokens.Load() != 0 {
		t.Errorf("%d requests with the token arrived; the error is %v", tokens.Load(), err)
	}
}

func TestWhatAHostileRelayAnswersReachesNoTerminal(t *testing.T) {
	answers := map[string]string{
		EventsPath + "/evt_1": `{"cursor":"\u202e:1","seq":1,"id":"evt_1","type":"a","src":"webhook","raw":"e30="}`,
		EventsPath + "/evt_2": "<html>",
		QuarantinePath:        `{"items":[{"received":"2026-03-04T12:00:00Z","reason":"no \u009b2Jid","raw":"e30="}],"more":false}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { _, _ = w.Write([]byte(answers[req.URL.Path])) }))
	defer server.Close()
	reader, err := NewReader(Access{URL: server.URL, Token: api.NewSecret(testToken)})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, id := range []string{"evt_1", "evt_2", "evt_3"} {
		if _, at, err := reader.Event(t.Context(), id); err == nil || at != "" {
			t.Errorf("%s: the cursor is %q, %v, want an error", id, at, err)
		}
	}
	if all, _, err := reader.Quarantine(t.Context(), 1); err != nil || len(all) != 1 || all[0].Reason != "no 2Jid" {
		t.Errorf("the quarantine holds %+q, %v", all, err)
	}
}

func TestAReaderAsksWhetherTheRelayIsReady(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		damage string
		want   string // in the error
		unable bool
	}{
		{"ready", 200, "ready\n", "", "", false},
		{"ready, with damage", 200, "ready\nevent 7 is \x1b[2Jdamaged\n", "event 7 is [2Jdamaged", "", false},
		{"not ready", 503, "the journal cannot be written\n", "", "journal cannot be written", true},
		{"another server", 200, "<html>", "", "is not a relay", false},
		{"a front that knows no such path", 404, "404 page not found\n", "", "404: 404 page not found", false},
		{"a redirect", 308, "", "", "redirects", false},
		{"a refusal with an escape inside", 500, `{"message":"\u001b[2J"}`, "", "500: [2J", false},
		{"a refusal without words", 418, "", "", "418: without a message", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path != "/team/readyz" {
					t.Errorf("it asks %s", req.URL.Path)
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			reader, err := NewReader(Access{URL: server.URL + "/team/"})
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			damage, err := reader.Ready(t.Context())
			if string(damage) != test.damage || strings.ContainsRune(fmt.Sprint(err), 0x1b) || errors.Is(err, ErrNotReady) != test.unable ||
				(err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q, %v", damage, err)
			}
		})
	}
}
