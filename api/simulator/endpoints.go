package simulator

import (
	"net/http"
	"slices"
	"strconv"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

func (c controlAPI) webhookEndpoints(*request) answer { return ok(c.sim.summary().Endpoints) }

// newEndpoint describes a webhook URL to register.
type newEndpoint struct {
	URL     string `json:"url"`
	History bool   `json:"history"` // deliver all events since the start, too
}

// registerEndpoint registers a webhook endpoint.
func (c controlAPI) registerEndpoint(_ *request, o newEndpoint) answer {
	if err := checkWebhookURL(o.URL); err != nil {
		return invalidField("body.url", err.Error())
	}
	if c.sim.cfg.SigningSecret.IsZero() {
		return invalidField("body.url", "the simulator was started without a signing secret")
	}
	e := c.sim.webhooks.register(o.URL, o.History, c.sim.agenda.now())
	return created(e.summed())
}

// removeEndpoint unregisters an endpoint.
func (c controlAPI) removeEndpoint(r *request) answer {
	w := &c.sim.webhooks
	at := w.endpoint(r.PathValue("id"))
	if at < 0 {
		return notFound("There is no such webhook endpoint")
	}
	removed := w.endpoints[at]
	removed.close()
	w.endpoints = slices.Delete(slices.Clone(w.endpoints), at, at+1)
	return ok(removed.summed())
}

// deliveries lists deliveries with their answers, the newest first.
func (c controlAPI) deliveries(r *request) answer {
	q := r.URL.Query()
	limit := 100
	if text := q.Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > keptDeliveries {
			return invalidField("limit", "must be a whole number from 1 to "+strconv.Itoa(keptDeliveries))
		}
	}
	all, _ := c.sim.webhooks.sent.Since(0)
	listed := []*deliveries.Delivery{}
	for _, d := range slices.Backward(all) {
		of := q.Get("endpoint") == "" || q.Get("endpoint") == endpointOf(d.ID)
		if of && (q.Get("event") == "" || q.Get("event") == string(d.Event)) && len(listed) < limit {
			listed = append(listed, d)
		}
	}
	return ok(listed)
}

// deliverAgain repeats a delivery, or makes a planned one now.
func (c controlAPI) deliverAgain(r *request) answer {
	id := api.ID(api.Scrub(r.PathValue("id")))
	d, kept := c.sim.webhooks.sent.Find(id)
	if !kept {
		return notFound("There is no such delivery, or it is no longer kept")
	}
	if err := c.sim.webhooks.redeliver(id); err != nil {
		return refused(http.StatusConflict, "ConflictError", "Not delivered again: "+err.Error())
	}
	return ok(d)
}
