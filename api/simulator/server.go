package simulator

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// server answers HTTP: the API, which is charged to the account, and the control
// API, which is not.
type server struct {
	sim  *Simulator
	mux  *http.ServeMux
	keys ring
}

// operation answers an authenticated and charged request.
type operation func(r *http.Request) answer

func newServer(s *Simulator) *server {
	v := &server{sim: s, mux: http.NewServeMux(), keys: newRing(s.cfg)}
	for _, route := range []struct {
		pattern string
		class   class
		scope   Scope
		run     operation
	}{
		{"POST /api/v1/checkout-intents", classCreates, IntentsWrite, s.once(s.createIntent)},
		{"POST /api/v1/checkout-intents/purchase", classCreates, IntentsWrite, s.once(s.purchaseIntent)},
		{"GET /api/v1/checkout-intents", classReads, IntentsRead, s.listIntents},
		{"GET /api/v1/checkout-intents/{id}", classReads, IntentsRead, s.getIntent},
		{"POST /api/v1/checkout-intents/{id}/confirm", classMutations, IntentsWrite, s.once(s.confirmIntent)},
		{"GET /api/v1/checkout-intents/{id}/shipments", classReads, IntentsRead, s.listIntentShipments},
		{"GET /api/v1/shipments", classReads, IntentsRead, s.listShipments},
		{"GET /api/v1/shipments/{id}", classReads, IntentsRead, s.getShipment},
		{"GET /api/v1/events", classReads, EventsRead, s.listEvents},
		{"GET /api/v1/events/{id}", classReads, EventsRead, s.getEvent},
		{"GET " + s.cfg.LookupPath, classLookup, ProductsRead, s.lookUpProduct},
	} {
		v.mux.Handle(route.pattern, v.charged(route.class, route.scope, route.run))
	}
	reads, mutations := v.charged(classReads, noScope, noSuchPath), v.charged(classMutations, noScope, noSuchPath)
	v.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			reads(w, r)
			return
		}
		mutations(w, r)
	})
	v.addControl()
	return v
}

// ServeHTTP keeps the mux from redirecting an unclean path, which it would do
// with a body that is not JSON.
func (v *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api.AnswerAsStandIn(w.Header(), r)
	escaped := r.URL.EscapedPath()
	if !strings.HasPrefix(escaped, "/") || strings.Contains(escaped, "//") || strings.Contains(escaped, "/.") && path.Clean(escaped) != escaped {
		v.charged(classReads, noScope, noSuchPath)(w, r)
		return
	}
	v.mux.ServeHTTP(w, r)
}

func noSuchPath(*http.Request) answer { return notFound("Not found") }

// charged authenticates, charges the buckets of a class and answers, with the
// RateLimit fields on every answer (contract, Limits).
func (v *server) charged(c class, scope Scope, run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := v.sim
		if s.cfg.Faults.Latency > 0 && api.Sleep(r.Context(), s.cfg.Faults.Latency) != nil {
			return
		}
		key, refusal := v.authenticate(r)
		if key == nil {
			w.Header()["WWW-Authenticate"] = []string{"Bearer"}
			write(w, r, s.countUnknown(c), refusal)
			return
		}
		now := time.Now()
		s.mu.Lock()
		s.counts.requests++
		number := s.counts.requests
		second := s.buckets.of(c)
		room := second.take(now)
		reset := second.reset(now)
		fields := s.buckets.perSecond(c, now, s.cfg.EveryPolicy)
		allowed := key.allows(scope)
		fault := s.faults.next(r, room && allowed)
		if room && !allowed {
			s.counts.forbidden++
		}
		if !fault.none() {
			s.counts.injected++
		}
		s.mu.Unlock()

		var a answer
		switch {
		case !room:
			a = tooFast(reset)
		case !allowed:
			a = s.forbid(key, scope)
		case !fault.none():
			a = s.suffer(fault, r, run, func() (answer, bool) { return s.chargeAgain(second) })
		default:
			a = run(r)
		}
		if a.status == http.StatusTooManyRequests || c == classCreates && s.cfg.EveryPolicy {
			s.mu.Lock()
			if a.status == http.StatusTooManyRequests {
				s.counts.limited++
			}
			if room && c == classCreates && s.cfg.EveryPolicy {
				s.buckets.perIntent(&fields, now, s.placing())
			}
			s.mu.Unlock()
		}
		w.Header()["X-Request-Id"] = []string{"req_" + strconv.FormatUint(number, 16)}
		write(w, r, fields, a)
	}
}

// countUnknown counts a request of somebody unknown, and reports the policy alone.
func (s *Simulator) countUnknown(c class) quotaFields {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.requests++
	s.counts.unauthorized++
	return s.buckets.untouched(c, s.cfg.EveryPolicy)
}

// chargeAgain charges the second of two requests.
func (s *Simulator) chargeAgain(second *bucket) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return tooFast(second.reset(now)), second.take(now)
}

func write(w http.ResponseWriter, r *http.Request, fields quotaFields, a answer) {
	body := head(w.Header(), fields, a)
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		w.Write(body) // a client that is gone needs no answer
	}
}

// head writes the header fields of an answer, and encodes its body.
func head(h http.Header, fields quotaFields, a answer) (body []byte) {
	// Assigned, not Set: the names go out in the case of the draft.
	if len(fields.limits) > 0 {
		h["RateLimit-Policy"] = fields.policies
		h["RateLimit"] = fields.limits
	}
	if a.retryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(a.retryAfter)}
	}
	if a.repeated {
		h["Idempotent-Replayed"] = []string{"true"}
	}
	body = []byte(a.html)
	if a.html != "" {
		h["Content-Type"] = []string{"text/html; charset=utf-8"}
	} else {
		body = encode(a.body)
		h["Content-Type"] = []string{"application/json; charset=utf-8"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	return body
}
