package simulator

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"tillwatch/api"
)

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
