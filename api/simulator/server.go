package simulator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// server answers HTTP: the API, which is charged to the account, and the control API, which is not.
type server struct {
	sim  *Simulator
	mux  *http.ServeMux
	keys keyring

	// Guarded by the simulator's lock:
	repeats repeats
	counts  Counts
}

// operation answers an authenticated and charged request. It runs under the simulator's lock.
type operation func(r *request) answer

// request is an authenticated request with its body.
type request struct {
	*http.Request
	body   []byte
	unread string // why the body could not be read; "" if it was
}

const maxBody = 1 << 20

func read(r *http.Request) *request {
	if r.Body == nil { // a call within the process
		return &request{Request: r}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	read := &request{Request: r, body: body}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		read.unread = fmt.Sprintf("larger than %d bytes", maxBody)
	case err != nil:
		read.unread = "could not be read"
	}
	return read
}

func newServer(s *Simulator) *server {
	v := &server{sim: s, mux: http.NewServeMux(), keys: newKeyring(s.cfg.Key), repeats: repeats{failures: s.cfg.RememberFailures, byKey: map[string]*taken{}}}
	for _, route := range v.routes() {
		v.mux.Handle(route.pattern, v.charged(route.class, route.run))
	}
	reads, mutations := v.charged(classReads, noSuchPath), v.charged(classMutations, noSuchPath)
	v.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			reads(w, r)
			return
		}
		mutations(w, r)
	})
	for _, c := range (controlAPI{s}).controls() {
		v.mux.HandleFunc(c.Method+" "+c.Path, v.uncharged(c.answer))
	}
	v.mux.HandleFunc("/control/", v.uncharged(noSuchPath))
	return v
}

// ServeHTTP answers an unclean path with 404: the mux would redirect it, with a body that is not JSON.
func (v *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api.AnswerAsStandIn(w.Header(), r)
	escaped := r.URL.EscapedPath()
	unclean := strings.Contains(escaped, "//") || strings.Contains(escaped, "/.") && path.Clean(escaped) != escaped
	if !strings.HasPrefix(escaped, "/") || unclean {
		v.charged(classReads, noSuchPath)(w, r)
		return
	}
	v.mux.ServeHTTP(w, r)
}

func noSuchPath(*request) answer { return notFound("Not found") }

// charged authenticates a request, charges the buckets of a class and answers. Every answer has RateLimit fields
// (contract, Limits).
func (v *server) charged(c class, run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if latency := v.sim.cfg.Faults.Latency; latency > 0 && api.Sleep(r.Context(), latency) != nil {
			return
		}
		if refusal := v.keys.authenticate(r); refusal != nil {
			w.Header()["WWW-Authenticate"] = []string{"Bearer"}
			write(w, r, v.countUnknown(c), *refusal)
			return
		}
		a, fields, number := v.perform(read(r), c, run)
		w.Header()["X-Request-Id"] = []string{"req_" + strconv.FormatUint(number, 16)}
		write(w, r, fields, a)
	}
}

// perform charges a request and runs its operation, unless a limit forbids it or a fault occurs. number is the number
// of the request.
func (v *server) perform(r *request, c class, run operation) (a answer, fields quotaFields, number uint64) {
	v.sim.mu.Lock()
	defer v.sim.mu.Unlock()
	now := v.sim.agenda.now()
	second := v.sim.buckets.of(c)
	v.counts.Requests++
	number = v.counts.Requests
	room := second.take(now)
	fields = v.sim.buckets.perSecond(c, now)
	if !room {
		a = tooFast(second.reset(now))
	} else if fault := v.sim.faults.ofRequest(r); fault.none() {
		a = run(r)
	} else {
		v.counts.Injected++
		a = v.suffer(fault, r, run, second)
	}
	if a.status == http.StatusTooManyRequests {
		v.counts.Rejected++
	}
	if room && c == classCreates && v.sim.cfg.EveryPolicy {
		v.sim.buckets.perIntent(&fields, v.sim.agenda.now())
	}
	return a, fields, number
}

// uncharged authenticates a request to the control API and answers it.
func (v *server) uncharged(run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := v.keys.authenticate(r)
		if a == nil {
			a = v.control(read(r), run)
		}
		write(w, r, quotaFields{}, *a)
	}
}

func (v *server) control(r *request, run operation) *answer {
	v.sim.mu.Lock()
	defer v.sim.mu.Unlock()
	a := run(r)
	return &a
}

// countUnknown counts a request without a valid key, and returns the policy alone.
func (v *server) countUnknown(c class) quotaFields {
	v.sim.mu.Lock()
	defer v.sim.mu.Unlock()
	v.counts.Requests++
	v.counts.Refused++
	return v.sim.buckets.untouched(c)
}

func write(w http.ResponseWriter, r *http.Request, fields quotaFields, a answer) {
	h := w.Header()
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
	body := encode(a.body)
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client has gone
	}
}

// chargedRoute is an endpoint of the API with the class of the buckets that it charges.
type chargedRoute struct {
	pattern string
	class   class
	run     operation
}

func (v *server) routes() []chargedRoute {
	return []chargedRoute{
		{"POST /api/v1/checkout-intents", classCreates, v.once(v.createIntent)},
		{"POST /api/v1/checkout-intents/purchase", classCreates, v.once(v.purchaseIntent)},
		{"GET /api/v1/checkout-intents", classReads, v.listIntents},
		{"GET /api/v1/checkout-intents/{id}", classReads, ofIntent(v.sim, v.getIntent)},
		{"POST /api/v1/checkout-intents/{id}/confirm", classMutations, v.once(ofIntent(v.sim, v.confirmIntent))},
		{"GET /api/v1/checkout-intents/{id}/shipments", classReads, v.listIntentShipments},
		{"GET /api/v1/shipments", classReads, v.listShipments},
		{"GET /api/v1/shipments/{id}", classReads, v.getShipment},
		{"GET /api/v1/events", classReads, v.listEvents},
		{"GET /api/v1/events/{id}", classReads, v.getEvent},
		{"GET " + v.sim.cfg.LookupPath, classLookup, v.lookUpProduct},
	}
}

// keyring holds the account's keys by the hashes of their texts: the duration of a search reveals nothing about a key.
type keyring map[[sha256.Size]byte]bool

func newKeyring(key api.Secret) keyring {
	k := keyring{}
	for _, secret := range []api.Secret{key, api.StandInKey(key)} {
		k[sha256.Sum256([]byte(secret.Reveal()))] = true
	}
	return k
}

// authenticate checks a request's key, `Bearer <API_KEY>` (contract, Authentication); nil: it is the account's.
func (k keyring) authenticate(r *http.Request) (refusal *answer) {
	given := r.Header.Get("Authorization")
	refused := unauthorized("Invalid API key")
	if given == "" {
		refused = unauthorized("Missing Authorization header")
	}
	if text, isBearer := strings.CutPrefix(given, "Bearer "); isBearer && k[sha256.Sum256([]byte(text))] {
		return nil
	}
	return &refused
}

// Limits of the memory of keyed requests, which lasts for as long as a client may sensibly repeat one.
const (
	idempotencyHeader = "Idempotency-Key"
	longestKey        = 255
	keysKept          = 10_000
	keysKeptFor       = 24 * time.Hour
)

// repeats remembers the answers to successful requests with an Idempotency-Key. All API keys of the account share it.
// Failures may be tried again under their key, unless it remembers them, too, as some services do. The simulator's
// lock guards it.
type repeats struct {
	failures bool
	byKey    map[string]*taken
	queue    []*taken // the oldest first
}

// taken is a request that took effect, and its answer.
type taken struct {
	key    string
	of     [sha256.Size]byte // method, path and body
	at     time.Time
	answer answer
}

// once lets a request with an Idempotency-Key take effect once: its repetitions get the answer to the first. The
// contract does not mention such keys; public clients send them.
func (v *server) once(run operation) operation {
	if v.sim.cfg.IgnoreIdempotencyKeys {
		return run
	}
	return func(r *request) answer {
		key := r.Header.Get(idempotencyHeader)
		if key == "" {
			return run(r)
		}
		if len(key) > longestKey {
			return invalidField(idempotencyHeader, fmt.Sprintf("maxLength %d", longestKey))
		}
		of := sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", r.Method, r.URL.EscapedPath(), bytes.TrimSpace(r.body)))
		return v.repeats.take(key, of, v.sim.agenda.now(), func() answer { return run(r) })
	}
}

// take returns the remembered answer, or else the answer of do.
func (p *repeats) take(key string, of [sha256.Size]byte, now time.Time, do func() answer) answer {
	p.forget(now)
	if before, ok := p.byKey[key]; ok {
		if before.of != of {
			return invalidField(idempotencyHeader, "was already used for another request")
		}
		again := before.answer
		again.repeated = true
		return again
	}
	a := do()
	if a.status/100 == 2 || p.failures && a.begun() {
		t := &taken{key, of, now, a}
		p.byKey[key] = t
		p.queue = append(p.queue, t)
	}
	return a
}

// begun reports whether the operation of an answer had begun: what its key or a limit forbids never does, nor what is
// not valid.
func (a answer) begun() bool {
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return false
	}
	return true
}

// forget drops answers that are too old or too many.
func (p *repeats) forget(now time.Time) {
	for len(p.queue) > 0 && (len(p.queue) >= keysKept || now.Sub(p.queue[0].at) >= keysKeptFor) {
		delete(p.byKey, p.queue[0].key)
		p.queue[0] = nil
		p.queue = p.queue[1:]
	}
}
