package simulator

// handlers implements the API. Its operations run under the simulator's lock.
type handlers struct {
	sim     *Simulator
	repeats repeats
}

func newHandlers(s *Simulator) *handlers {
	return &handlers{sim: s, repeats: repeats{failures: s.cfg.RememberFailures, byKey: map[string]*taken{}}}
}

// chargedRoute is an endpoint of the API with the class of the buckets that it charges
// and the scope that it needs.
type chargedRoute struct {
	pattern string
	class   class
	scope   Scope
	run     operation
}

func (h *handlers) routes() []chargedRoute {
	return []chargedRoute{
		{"POST /api/v1/checkout-intents", classCreates, IntentsWrite, h.once(h.createIntent)},
		{"POST /api/v1/checkout-intents/purchase", classCreates, IntentsWrite, h.once(h.purchaseIntent)},
		{"GET /api/v1/checkout-intents", classReads, IntentsRead, h.listIntents},
		{"GET /api/v1/checkout-intents/{id}", classReads, IntentsRead, ofIntent(h.sim, h.getIntent)},
		{"POST /api/v1/checkout-intents/{id}/confirm", classMutations, IntentsWrite, h.once(ofIntent(h.sim, h.confirmIntent))},
		{"GET /api/v1/checkout-intents/{id}/shipments", classReads, IntentsRead, h.listIntentShipments},
		{"GET /api/v1/shipments", classReads, IntentsRead, h.listShipments},
		{"GET /api/v1/shipments/{id}", classReads, IntentsRead, ofShipment(h.sim, h.getShipment)},
		{"GET /api/v1/events", classReads, EventsRead, h.listEvents},
		{"GET /api/v1/events/{id}", classReads, EventsRead, h.getEvent},
		{"GET " + h.sim.cfg.LookupPath, classLookup, ProductsRead, h.lookUpProduct},
	}
}
