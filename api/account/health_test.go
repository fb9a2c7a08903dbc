package account

import (
	"context"
	"errors"
	"testing"
	"time"

	"tillwatch/api"
)

func TestTheHealthOfTheServiceIsJudgedByItsAnswers(t *testing.T) {
	unreadable := &api.UnreadableError{Status: 200, Err: errors.New("an HTML page instead of JSON")}
	answered := func(method string, status int) api.Exchange {
		err := &api.Error{Method: method, Status: status, Name: "AnError", Message: "no"}
		return api.Exchange{Method: method, Status: status, Err: err}
	}
	forbidden, teapot, missing, conflict := answered("GET", 403), answered("GET", 418), answered("GET", 404), answered("POST", 409)
	of := func(path string) api.Exchange {
		e := forbidden
		e.Path = path
		return e
	}
	read := api.Exchange{Method: "GET", Status: 200}
	cases := []struct {
		name      string
		exchanges []api.Exchange
		want      APIState
	}{
		{"nothing was asked", nil, APIUnknown},
		{"an answer", []api.Exchange{{Status: 200}}, APIHealthy},
		{"a list that need not be there", []api.Exchange{{Status: 404}}, APIHealthy},
		{"one failure may be chance", []api.Exchange{{Status: 200}, {Status: 500, Err: errBroken}}, APIHealthy},
		{"two server errors", []api.Exchange{{Status: 500, Err: errBroken}, {Status: 500, Err: errBroken}}, APIFailing},
		{"two sign-in pages", []api.Exchange{{Status: 200, Err: unreadable}, {Status: 200, Err: unreadable}}, APIFailing},
		{"a sign-in page and no answer", []api.Exchange{{Status: 200, Err: unreadable}, {Err: errBroken}}, APIFailing},
		{"two redirects", []api.Exchange{{Status: 302, Err: errBroken}, {Status: 302, Err: errBroken}}, APIFailing},
		{"two reads that the key may not make", []api.Exchange{forbidden, forbidden}, APIFailing},
		{"one that it may not make among others", []api.Exchange{forbidden, {Method: "GET", Status: 200}, forbidden}, APIHealthy},
		{"two reads of shipments that it may not make", []api.Exchange{read, of("/api/v1/shipments?limit"), of("/api/v1/checkout-intents/ci_1/shipments"), of("/api/v1/shipments/shp_1")}, APIHealthy},
		{"two of the rest that it may not make", []api.Exchange{read, of("/api/v1/checkout-intents/shipments"), of("/api/v1/checkout-intents/ci_1")}, APIFailing},
		{"reads of shipments that it may not make, while the service fails", []api.Exchange{{Err: errBroken}, of("/api/v1/shipments"), {Err: errBroken}}, APIFailing},
		{"two answers to reads that the contract does not know", []api.Exchange{teapot, teapot}, APIFailing},
		{"two reads of what does not exist", []api.Exchange{missing, missing}, APIHealthy},
		{"two confirms that came too late", []api.Exchange{conflict, conflict}, APIHealthy},
		{"bodies that were given up here", []api.Exchange{{Status: 200, Err: context.Canceled}, {Status: 200, Err: context.Canceled}}, APIUnknown},
		{"back again", []api.Exchange{{Err: errBroken}, {Err: errBroken}, {Status: 200}}, APIHealthy},
		{"a refused key", []api.Exchange{{Status: 401, Err: api.ErrUnauthorized}}, APIUnauthorized},
		{"a key that is taken again", []api.Exchange{{Status: 401, Err: api.ErrUnauthorized}, {Status: 200}}, APIHealthy},
		{"used-up quota", []api.Exchange{{Status: 429, Err: api.ErrRateLimited}}, APISlow},
		{"a long pause for quota", []api.Exchange{{Status: 200, Waited: 3 * time.Second}}, APISlow},
		{"another server's not found, twice", []api.Exchange{{Status: 404, Err: api.ErrNotFound}, {Status: 404, Err: api.ErrNotFound}}, APIFailing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			for _, e := range c.exchanges {
				s.RecordExchange(e)
			}
			if got := s.Summary().API.State; got != c.want {
				t.Errorf("the API is %v, want %v", got, c.want)
			}
		})
	}
}
