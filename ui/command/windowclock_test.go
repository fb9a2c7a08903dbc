package command

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

func TestConfirmWindowsAreCountedByTheServicesClock(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Lists = true
	w := newWorld(t, c)
	id := made(t, w.service, simulator.Order{ReferenceID: "order-7", ProductURL: chiliCrisp, State: api.AwaitingConfirmation})
	for _, c := range []struct {
		name    string
		service time.Duration // its clock, ahead of this machine's
		shows   string
		awaits  string
	}{
		{"together", 0, `[Cc]onfirm by:? .*, in 4\dm`, `awaiting +1 for `},
		{"this machine is 20 minutes behind", 20 * time.Minute, `[Cc]onfirm by:? .*, in 2\dm`, `awaiting +1 for `},
		{"this machine is an hour behind", time.Hour, `[Cc]onfirm by:? .*, which is over`, `awaiting +none`},
		{"this machine is an hour ahead", -time.Hour, `[Cc]onfirm by:? .*, in 1h`, `awaiting +1 for `},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Date", time.Now().Add(c.service).UTC().Format(http.TimeFormat))
				w.service.Handler().ServeHTTP(rw, r)
			}))
			t.Cleanup(service.Close)
			settings := *w
			settings.settings.APIURL = service.URL
			config := settings.asUser(t)
			for _, asked := range []struct {
				args  []string
				shows string
			}{{[]string{"intent", id}, c.shows}, {[]string{"order", "order-7"}, c.shows}, {[]string{"status"}, c.awaits}} {
				if r := runAs(t, append(asked.args, "--config", config)...); !regexp.MustCompile(asked.shows).MatchString(r.out) {
					t.Errorf("%v: want %q in\n%s%s", asked.args, asked.shows, r.out, r.words)
				}
			}
		})
	}
}
