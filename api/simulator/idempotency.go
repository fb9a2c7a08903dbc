package simulator

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

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
