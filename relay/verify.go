package relay

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
			return fmt.Errorf("signing secret %d has %d bytes, fewer than %d: copy the whole secret from the account console", i+1, n, MinSecret)
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
