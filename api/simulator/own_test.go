package simulator

import (
	"net/http"
	"testing"

	"tillwatch/api"
)

func TestALookFromTheServicesOwnSideLeavesNoTrace(t *testing.T) {
	const list = "/api/v1/checkout-intents"
	own := Key{Name: "board", Secret: api.NewSecret("key-of-the-board"), Own: true}
	inBubble(t, func(c *Config) { c.MoreKeys, c.Faults.Errors = []Key{own}, 1 }, func(a *account) {
		id, err := a.sim.CreateIntent(Order{ProductURL: chiliCrisp})
		if err != nil {
			a.Fatal(err)
		}
		before := a.sim.Summary()
		for range 30 { // thrice what a second allows
			r := a.burstAs(own, list)
			a.want(http.StatusOK, r)
			if left := exact(r.header, "RateLimit"); len(left) != 1 || left[0] != `"default";r=10;t=1` {
				a.Errorf("the fields say %q", left)
			}
		}
		a.want(http.StatusOK, a.burstAs(own, list+"/"+id))
		after := a.sim.Summary()
		if after.Counts != before.Counts {
			a.Errorf("counted as %+v after %+v", after.Counts, before.Counts)
		}
	})
}

func (a *account) burstAs(k Key, path string) response {
	a.Helper()
	return a.send("GET", path, "", "Bearer "+k.Secret.Reveal())
}
