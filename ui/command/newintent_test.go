package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/ui/dashboard/dialog"
)

func TestTheBoardMakesIntentsOfAStandInAlone(t *testing.T) {
	w := newWorld(t, quiet())
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(http.StatusUnauthorized)
		if r.Header.Get("Authorization") == "Bearer key-of-the-test" {
			t.Error("the service is asked with the account's key")
		}
	}))
	defer service.Close()
	cases := []struct {
		name  string
		url   string // of what answers
		draft dialog.Draft
		fault string
		says  string // "": it is made
	}{
		{"any", w.settings.APIURL, dialog.Draft{Quantity: 1}, "", ""},
		{"a magic product", w.settings.APIURL, dialog.Draft{Product: "payment_failed", Quantity: 2, Reference: "order-7"}, "", ""},
		{"no product", w.settings.APIURL, dialog.Draft{Product: "sold-oot", Quantity: 1}, "", `"sold-oot" is neither a URL nor a magic product: did you mean sold-out?`},
		{"refused", w.settings.APIURL, dialog.Draft{Quantity: -1}, "", "; body.quantity: min 0 (it was -1)"},
		{"lost", w.settings.APIURL, dialog.Draft{Quantity: 1}, `{"drop":true,"after":true,"method":"POST","path":"/api/v1/"}`, "unknown: it may have been created, so it is not sent again"},
		{"the service itself", service.URL, dialog.Draft{Quantity: 1}, "", "refuses the API key"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			settings := w.settings
			settings.APIURL, settings.StateDir = c.url, t.TempDir()
			current, err := open(settings, forgets)
			if err != nil {
				t.Fatal(err)
			}
			defer current.close()
			if c.fault != "" {
				w.fail(t, c.fault)
			}
			id, err := current.create(t.Context(), c.draft)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("want %q: %v", c.says, err)
				}
				return
			}
			if in, known := current.store.Intent(id); err != nil || !known || in.State != api.RetrievingOffer || in.Quantity != c.draft.Quantity || string(in.ReferenceID) != c.draft.Reference {
				t.Errorf("%v; the picture has %+v", err, in)
			}
		})
	}
}
