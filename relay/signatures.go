package relay

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/relay/signature"
)

// MinSecret is the shortest signing secret that a relay accepts, in bytes.
const MinSecret = 16

// Verified is a body whose signature was checked. Only the verifier makes a non-empty one, and only a Verified can
// reach the journal.
type Verified struct{ body []byte }

// verifier checks the signature of deliveries (contract, Authentication): HMAC-SHA256 of the raw body under any of
// the active secrets.
type verifier struct {
	header  string // in canonical form
	secrets atomic.Pointer[[]api.Secret]
}

func newVerifier(headerPrefix string, secrets []api.Secret) (*verifier, error) {
	v := &verifier{header: http.CanonicalHeaderKey(headerPrefix + "signature")}
	return v, v.setSecrets(secrets)
}

// setSecrets replaces the active secrets; on an error the old ones stay.
func (v *verifier) setSecrets(secrets []api.Secret) error {
	if len(secrets) == 0 {
		return errors.New("a relay needs a signing secret: it is in the account console, under webhooks")
	}
	for i, secret := range secrets {
		if n := len(secret.Reveal()); n < MinSecret {
			return fmt.Errorf("signing secret %d has %d bytes, fewer than %d: copy the whole secret from the account console",
				i+1, n, MinSecret)
		}
	}
	secrets = slices.Clone(secrets)
	v.secrets.Store(&secrets)
	return nil
}

// signature reads the one signature that a delivery must carry.
func (v *verifier) signature(header http.Header) (s signature.Sum, ok bool) {
	values := header[v.header]
	if len(values) != 1 {
		return s, false
	}
	return signature.Parse(values[0])
}

// verify checks body against every active secret.
func (v *verifier) verify(body []byte, given signature.Sum) (Verified, bool) {
	matched := false
	for _, secret := range *v.secrets.Load() {
		expected := signature.Of(secret, body)
		if hmac.Equal(expected[:], given[:]) {
			matched = true
		}
	}
	if !matched {
		return Verified{}, false
	}
	return Verified{body: body}, true
}

const (
	wrongSpan    = 5 * time.Minute // how long a wrong signature is reported
	wrongPause   = time.Second     // the least time between diagnoses
	maxDiagnosed = 64 << 10        // bytes of a body that is diagnosed
)

// WrongSignatures is what a relay reports of deliveries with a wrong signature.
type WrongSignatures struct {
	Count int             `json:"count"`           // without a pause of 5 minutes; 0: nothing to report
	Cause signature.Cause `json:"cause,omitempty"` // of the newest that was diagnosed
	Text  string          `json:"text,omitempty"`  // the cause in words
	At    time.Time       `json:"at,omitzero"`     // when it came
}

// String returns the report as a sentence; "" for nothing to report.
func (w WrongSignatures) String() string {
	switch {
	case w.Count <= 0:
		return ""
	case w.Count == 1:
		return "1 wrong signature: " + w.Text
	}
	return fmt.Sprintf("%d wrong signatures: %s", w.Count, w.Text)
}

// wrongSignatures counts wrong signatures, and diagnoses at most one a second, after the answer: the cause is for the
// operator only.
type wrongSignatures struct {
	prefix  string
	logger  *slog.Logger
	changed func() // called when the report changes

	tasks   sync.WaitGroup
	mu      sync.Mutex
	secrets []api.Secret      // active
	others  []signature.Other // known and not active here, such as those of before a rotation
	count   int
	newest  time.Time
	next    time.Time // when the next diagnosis may begin
	told    WrongSignatures
}

// rotate replaces the active secrets, and remembers the former ones.
func (w *wrongSignatures) rotate(secrets []api.Secret) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, old := range w.secrets {
		if !slices.Contains(secrets, old) {
			w.others = append(w.others, signature.Other{
				Secret: old, Cause: signature.Rotation, Whose: "before the rotation, which the sender still has",
			})
		}
	}
	w.secrets = secrets
}

// note counts a delivery that carried a wrong signature.
func (w *wrongSignatures) note(header http.Header, body []byte) {
	now := time.Now().UTC().Round(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.newest) >= wrongSpan {
		w.count = 0
	}
	w.count, w.newest = w.count+1, now
	if now.Before(w.next) || len(body) == 0 || len(body) > maxDiagnosed {
		return
	}
	w.next = now.Add(wrongPause)
	d := signature.Delivery{
		Body: body, Header: header.Clone(), Prefix: w.prefix, Secrets: w.secrets, Others: w.others, Now: now,
	}
	w.tasks.Go(func() {
		found := signature.Diagnose(d)
		if found.Valid {
			return // the secrets have changed in between
		}
		w.mu.Lock()
		w.told = WrongSignatures{w.count, found.Cause, found.Text, now}
		w.mu.Unlock()
		w.logger.Warn("wrong signature: "+found.Text, slog.String("cause", string(found.Cause)))
		w.changed()
	})
}

// report returns what there is to report now.
func (w *wrongSignatures) report() WrongSignatures {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.told.At) >= wrongSpan {
		return WrongSignatures{}
	}
	return w.told
}

// bodyToDiagnose reads the body of a delivery whose signature is malformed, if it is small. The server would read as
// much before the answer goes out, so neither the answer nor its time change.
func bodyToDiagnose(req *http.Request) []byte {
	if req.Header.Get("Expect") != "" || req.ContentLength > smallBody {
		return nil
	}
	body := make([]byte, max(req.ContentLength, 0))
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return nil
	}
	return body
}
