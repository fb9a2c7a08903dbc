package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"sync"
	"sync/atomic"

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
	header string // in canonical form
	keys   atomic.Pointer[[]*signingKey]
}

// signingKey is a secret with a pool of keyed hashes: a new hash per delivery would make checking a fifth slower.
type signingKey struct{ hashes sync.Pool }

func newVerifier(headerPrefix string, secrets []api.Secret) (*verifier, error) {
	v := &verifier{header: http.CanonicalHeaderKey(headerPrefix + "signature")}
	return v, v.setSecrets(secrets)
}

// setSecrets replaces the active secrets; on an error the old ones stay.
func (v *verifier) setSecrets(secrets []api.Secret) error {
	if len(secrets) == 0 {
		return errors.New("a relay needs a signing secret: it is in the account console, under webhooks")
	}
	keys := make([]*signingKey, len(secrets))
	for i, secret := range secrets {
		key := []byte(secret.Reveal())
		if len(key) < MinSecret {
			return fmt.Errorf("signing secret %d has %d bytes, fewer than %d: copy the whole secret from the account console", i+1, len(key), MinSecret)
		}
		keys[i] = &signingKey{hashes: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
	}
	v.keys.Store(&keys)
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
	for _, key := range *v.keys.Load() {
		expected := key.sign(body)
		if hmac.Equal(expected[:], given[:]) {
			matched = true
		}
	}
	if !matched {
		return Verified{}, false
	}
	return Verified{body: body}, true
}

func (k *signingKey) sign(body []byte) (s signature.Sum) {
	h := k.hashes.Get().(hash.Hash)
	defer k.hashes.Put(h)
	h.Reset()
	h.Write(body)
	h.Sum(s[:0])
	return s
}
