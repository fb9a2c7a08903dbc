package api

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestTheControlAPIIsAskedOfStandInsAlone(t *testing.T) {
	cases := []struct {
		name, base, key string
		standIn         bool
		status          int
		sent            bool
		want            error
	}{
		{"a stand-in on this machine", "http://127.0.0.1:7420", accountKey, true, 200, true, nil},
		{"a stand-in elsewhere", "https://stand-in.example", accountKey, true, 200, true, nil},
		{"a stand-in that refuses", "http://127.0.0.1:7420", accountKey, true, 404, true, ErrNotFound},
		{"the service, which takes it", "https://checkout.example", accountKey, false, 200, true, ErrNotStandIn},
		{"the service, which refuses it", "http://127.0.0.1:7420", accountKey, false, 401, true, ErrNotStandIn},
		{"staging", "https://staging.checkout.example", accountKey, true, 200, false, ErrNotStandIn},
		{"a key of production", "https://checkout.example", "shop/production-ab", true, 200, false, ErrNotStandIn},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sent := false
			client := at(t, c.base, c.key, func(w http.ResponseWriter, r *http.Request) {
				sent = true
				body, err := io.ReadAll(r.Body)
				same(t, "request", r.Method+" "+r.URL.String()+" "+string(body), "PUT "+c.base+"/control/things/a%2Fb?of=ci_1 {\"left\":1}")
				if err != nil || strings.Contains(r.Header.Get("Authorization"), c.key) {
					t.Errorf("it carries %q (%v)", r.Header.Get("Authorization"), err)
				}
				if c.standIn {
					AnswerAsStandIn(w.Header(), r)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, `{"left":1}`)
			})
			var into struct{ Left int }
			err := client.Control(t.Context(), "PUT", "/control/things/a%2Fb?of=ci_1", map[string]int{"left": 1}, &into)
			if !errors.Is(err, c.want) || sent != c.sent || (err == nil) != (into.Left == 1) {
				t.Errorf("sent %v, answered %+v, %v", sent, into, err)
			}
		})
	}
}
