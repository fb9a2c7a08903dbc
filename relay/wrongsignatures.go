package relay

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tillwatch/api"
	"tillwatch/relay/signature"
)

const (
	// wrongSpan is how long a wrong signature is reported.
	wrongSpan = 5 * time.Minute
	// diagnosisPause is the least time between diagnoses.
	diagnosisPause = time.Second
	// wrongLogged is the least time between log lines about one cause.
	wrongLogged = time.Minute
	// maxDiagnosed bounds the bodies that are diagnosed, in bytes.
	maxDiagnosed = 64 << 10
	// unprovenReported is how many signatures must be wrong for an unproven reason before it is reported: anyone can send
	// one.
	unprovenReported = 3
	// keptSecrets bounds how many former secrets are remembered.
	keptSecrets = 4
)

// causeUntried is the label of deliveries within the pause, or too large, to be diagnosed.
const causeUntried signature.Cause = "untried"

// WrongSignatures is what a relay reports of deliveries with a wrong signature.
type WrongSignatures struct {
	Count int             `json:"count"`           // in the last 5 minutes, of this cause; 0: nothing to report
	More  bool            `json:"more,omitempty"`  // others were not diagnosed: there may be more
	Cause signature.Cause `json:"cause,omitempty"` // of the newest; a proven cause comes first
	Text  string          `json:"text,omitempty"`  // the cause in words
	At    time.Time       `json:"at,omitzero"`     // when the newest came
}

// String returns the report as a sentence; "" for nothing to report.
func (w WrongSignatures) String() string {
	if w.Count <= 0 {
		return ""
	}
	most, signatures := "", "signatures"
	if w.More {
		most = "≥"
	}
	if w.Count == 1 {
		signatures = "signature"
	}
	return fmt.Sprintf("%s%d wrong %s in %s: %s", most, w.Count, signatures, api.Span(wrongSpan), w.Text)
}

// signatureMonitor diagnoses wrong signatures, at most one a second and after the answer: the findings are for the operator
// only.
type signatureMonitor struct {
	prefix  string
	logger  *slog.Logger
	counts  *prometheus.CounterVec
	changed func() // called when the report changes

	tasks  sync.WaitGroup
	mu     sync.Mutex
	closed bool
	next   time.Time         // when the next diagnosis may begin
	secret []api.Secret      // active
	former []signature.Other // active before a rotation
	others []signature.Other // of other environments or accounts, never active here
	seen   []wrong           // within wrongSpan, the oldest first; at most one a second
	skip   time.Time         // when a delivery was last left undiagnosed
	logged wrong             // the last one logged
}

type wrong struct {
	signature.Diagnosis
	at time.Time
}

func newSignatureMonitor(cfg Config, logger *slog.Logger) *signatureMonitor {
	w := &signatureMonitor{prefix: cfg.HeaderPrefix, logger: logger, secret: cfg.SigningSecrets, others: cfg.OtherSecrets}
	w.counts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tillwatch_wrong_signatures_total", Help: "Deliveries whose signature was wrong, by likely cause.",
	}, []string{"cause"})
	for _, cause := range append(signature.Causes(), causeUntried) {
		w.counts.WithLabelValues(string(cause))
	}
	return w
}

// rotate replaces the active secrets, and remembers the former ones.
func (w *signatureMonitor) rotate(secrets []api.Secret) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, old := range w.secret {
		if !slices.Contains(secrets, old) {
			w.former = append(w.former, signature.Other{Secret: old, Cause: signature.Rotation, Whose: "before the rotation, which the sender still has"})
		}
	}
	w.former = w.former[max(0, len(w.former)-keptSecrets):]
	w.secret = secrets
}

// peek reads the body of a delivery with a malformed signature, if it may be diagnosed. The server would read as
// much before the answer goes out, so neither the answer nor its time change.
func (w *signatureMonitor) peek(req *http.Request) (body []byte) {
	w.mu.Lock()
	due := !time.Now().Before(w.next)
	w.mu.Unlock()
	if !due || req.Header.Get(w.prefix+"signature") == "" || req.Header.Get("Expect") != "" || req.ContentLength < 0 || req.ContentLength > smallBody {
		return nil
	}
	body = make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return nil
	}
	return body
}

// look begins a diagnosis, unless one was begun within the pause.
func (w *signatureMonitor) look(header http.Header, body []byte) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(header.Values(w.prefix+"signature")) == 0:
		w.counts.WithLabelValues(string(signature.Missing)).Inc()
		return
	case w.closed || now.Before(w.next) || body == nil || len(body) > maxDiagnosed:
		w.counts.WithLabelValues(string(causeUntried)).Inc()
		w.skip = now
		return
	}
	w.next = now.Add(diagnosisPause)
	d := signature.Delivery{Body: body, Header: header.Clone(), Prefix: w.prefix, Secrets: w.secret, Others: slices.Concat(w.former, w.others), Now: now}
	w.tasks.Go(func() { w.note(wrong{signature.Diagnose(d), now.UTC().Round(0)}) })
}

// note remembers and reports a finding.
func (w *signatureMonitor) note(found wrong) {
	if found.Valid {
		return // the secrets have changed in between
	}
	w.counts.WithLabelValues(string(found.Cause)).Inc()
	w.mu.Lock()
	w.seen = append(w.since(found.at), found)
	log := found.Cause != w.logged.Cause || found.at.Sub(w.logged.at) >= wrongLogged
	if log {
		w.logged = found
	}
	w.mu.Unlock()
	if log {
		w.logger.Warn("wrong signature: "+found.Text, slog.String("cause", string(found.Cause)), slog.Bool("proven", found.Proven))
	}
	w.changed()
}

// since returns the findings within the span before now.
func (w *signatureMonitor) since(now time.Time) []wrong {
	return slices.DeleteFunc(w.seen, func(s wrong) bool { return now.Sub(s.at) >= wrongSpan })
}

// report returns what there is to report now.
func (w *signatureMonitor) report() (t WrongSignatures) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = w.since(now)
	var newest wrong
	for _, s := range w.seen {
		if s.Proven || !newest.Proven {
			newest = s
		}
	}
	for _, s := range w.seen {
		if s.Cause == newest.Cause {
			t.Count++
		}
	}
	if len(w.seen) == 0 || !newest.Proven && t.Count < unprovenReported {
		return WrongSignatures{}
	}
	t.More, t.Cause, t.Text, t.At = now.Sub(w.skip) < wrongSpan, newest.Cause, newest.Text, newest.at
	return t
}

// close waits for the current diagnosis.
func (w *signatureMonitor) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.tasks.Wait()
}
