package simulator

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tillwatch/api"
)

// Key is a further API key of the account. All keys share its buckets.
type Key struct {
	Secret api.Secret
	Scopes []Scope // what it may do; empty: everything
}

// Scope is a permission of a key. The contract names events:read; public clients have observed the others.
type Scope string

// The scopes.
const (
	EventsRead       Scope = "events:read"
	IntentsRead      Scope = "checkout_intents:read" // and shipments
	IntentsWrite     Scope = "checkout_intents:write"
	ProductsRead     Scope = "products:read"
	BillingRead      Scope = "billing:read"       // no endpoint of the contract needs it
	TestHelpersWrite Scope = "test_helpers:write" // the control API
	noScope          Scope = ""                   // any key suffices
)

// Scopes lists all scopes.
func Scopes() []Scope {
	return []Scope{EventsRead, IntentsRead, IntentsWrite, ProductsRead, BillingRead, TestHelpersWrite}
}

// checkKeys refuses empty and duplicate keys.
func (c *Config) checkKeys() error {
	if c.Key.IsZero() {
		return errors.New("an API key is required")
	}
	known := []api.Secret{c.Key}
	for _, k := range c.MoreKeys {
		if k.Secret.IsZero() || slices.Contains(known, k.Secret) {
			return errors.New("a further key is empty, or the same as another")
		}
		known = append(known, k.Secret)
		for _, scope := range k.Scopes {
			if !slices.Contains(Scopes(), scope) {
				return fmt.Errorf("a key has a scope that does not exist; there are %s", List(Scopes(), "and"))
			}
		}
	}
	return nil
}

// List lists names as people do: last, such as "and", stands before the last one.
func List[S ~string](names []S, last string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// keyring holds the scopes of the account's keys by the hashes of their texts: the duration of a search reveals
// nothing about a key.
type keyring map[[sha256.Size]byte][]Scope

func newKeyring(c *Config) keyring {
	k := keyring{}
	for _, key := range append([]Key{{Secret: c.Key}}, c.MoreKeys...) {
		for _, secret := range []api.Secret{key.Secret, api.StandInKey(key.Secret)} {
			k[sha256.Sum256([]byte(secret.Reveal()))] = key.Scopes
		}
	}
	return k
}

// authenticate returns the scopes of a request's key, `Bearer <API_KEY>` (contract, Authentication); known is false,
// with the refusal, if the account has no such key.
func (v *server) authenticate(r *http.Request) (scopes []Scope, known bool, refusal answer) {
	given := r.Header.Get("Authorization")
	if given == "" {
		return nil, false, unauthorized("Missing Authorization header")
	}
	text, isBearer := strings.CutPrefix(given, "Bearer ")
	scopes, known = v.keys[sha256.Sum256([]byte(text))]
	if !known || !isBearer {
		return nil, false, unauthorized("Invalid API key")
	}
	return scopes, true, answer{}
}

// allow reports whether scopes include the one that an endpoint needs.
func allow(scopes []Scope, needed Scope) bool {
	return needed == noScope || len(scopes) == 0 || slices.Contains(scopes, needed)
}

func forbidden(scope Scope) answer {
	return refused(http.StatusForbidden, "ForbiddenError", "API key lacks scope "+string(scope))
}
