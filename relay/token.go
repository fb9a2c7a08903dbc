package relay

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"tillwatch/api"
)

// tokens are the bearer tokens of the stream and the reading side, as hashes.
type tokens [][sha256.Size]byte

func newTokens(secrets []api.Secret) (tokens, error) {
	var all tokens
	for _, secret := range secrets {
		if secret.IsZero() {
			return nil, errors.New("an empty token would let everyone read: set one or leave it out")
		}
		all = append(all, sha256.Sum256([]byte(secret.Reveal())))
	}
	if len(all) == 0 {
		return nil, errors.New("a relay needs a token for those who read its events")
	}
	return all, nil
}

// admit reports whether the request carries one of the tokens as its bearer.
func (t tokens) admit(req *http.Request) bool {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(token))
	admitted := 0
	for _, known := range t {
		admitted |= subtle.ConstantTimeCompare(known[:], given[:])
	}
	return admitted == 1 && strings.EqualFold(scheme, "Bearer")
}

// guarded lets only those with a token through.
func (r *Relay) guarded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.tokens.admit(req) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="tillwatch relay"`)
			answer(w, http.StatusUnauthorized, `{"message":"the token is missing or wrong"}`+"\n")
			return
		}
		next(w, req)
	})
}
