package simulator

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tillwatch/api"
)

// Key is an API key of the account. All keys share its buckets.
type Key struct {
	Name        string // shown to people
	Secret      api.Secret
	Scopes      []Scope     // what it may do; empty: everything
	Environment Environment // default: that of the key's prefix, or else of the simulator
}

// Environment is staging or production. They have the same paths on different addresses,
// and do not accept each other's keys.
type Environment string

// The environments of an account.
const (
	Staging    Environment = "staging"
	Production Environment = "production"
)

// Scope is a permission of a key. The contract names events:read; public clients have
// observed the others.
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

// checkKeys refuses empty, contradictory and duplicate keys, and fills in their
// environments.
func (c *Config) checkKeys() error {
	switch prefix := Environment(api.KeyEnvironment(c.Key)); {
	case c.Environment != Staging && c.Environment != Production:
		return fmt.Errorf("the environment is %q; it is staging or production", c.Environment)
	case prefix != "" && prefix != c.Environment:
		return fmt.Errorf("the API key is one of %s, as its prefix says, and this is %s", prefix, c.Environment)
	}
	names := map[api.Secret]string{c.Key: "the API key"}
	c.MoreKeys = slices.Clone(c.MoreKeys)
	for i := range c.MoreKeys {
		k := &c.MoreKeys[i]
		prefix := Environment(api.KeyEnvironment(k.Secret))
		k.Environment = cmp.Or(k.Environment, prefix, c.Environment)
		switch {
		case k.Secret.IsZero():
			return fmt.Errorf("key %q is empty", k.Name)
		case k.Environment != Staging && k.Environment != Production:
			return fmt.Errorf("the environment of key %q is %q; it is staging or production", k.Name, k.Environment)
		case prefix != "" && prefix != k.Environment:
			return fmt.Errorf("key %q is one of %s, as its prefix says, and not of %s", k.Name, prefix, k.Environment)
		case names[k.Secret] != "":
			return fmt.Errorf("key %q is the same as %s", k.Name, names[k.Secret])
		}
		names[k.Secret] = fmt.Sprintf("key %q", k.Name)
		for _, scope := range k.Scopes {
			if !slices.Contains(Scopes(), scope) {
				return fmt.Errorf("key %q has the scope %q; there are %s", k.Name, scope, List(Scopes(), "and"))
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

// keyring holds the keys of the account by the hashes of their texts: the duration of a
// search reveals nothing about a key.
type keyring map[[sha256.Size]byte]*Key

func newKeyring(c Config) keyring {
	k := keyring{}
	for _, key := range append([]Key{{Name: "main", Secret: c.Key, Environment: c.Environment}}, c.MoreKeys...) {
		own, standIn := key.Secret, api.StandInKey(key.Secret)
		key.Secret = api.Secret{}
		for _, secret := range []api.Secret{own, standIn} {
			k[sha256.Sum256([]byte(secret.Reveal()))] = &key
		}
	}
	return k
}

// find returns the key of an Authorization header, `Bearer <API_KEY>` (contract,
// Authentication); nil if the account has no such key.
func (k keyring) find(header string) *Key {
	text, isBearer := strings.CutPrefix(header, "Bearer ")
	if !isBearer {
		return nil
	}
	return k[sha256.Sum256([]byte(text))]
}

func (k *Key) allows(scope Scope) bool {
	return scope == noScope || len(k.Scopes) == 0 || slices.Contains(k.Scopes, scope)
}

// authenticate finds the key of a request, or refuses it.
func (v *server) authenticate(r *http.Request) (*Key, answer) {
	given := r.Header.Get("Authorization")
	if given == "" {
		return nil, unauthorized("Missing Authorization header")
	}
	key := v.keys.find(given)
	if key == nil {
		return nil, unauthorized("Invalid API key")
	}
	if environment := v.sim.cfg.Environment; key.Environment != environment {
		v.warnOnce("a key of the other environment is refused", "key", key.Name, "of", key.Environment, "here", environment)
		return nil, unauthorized("Invalid API key")
	}
	return key, answer{}
}

// forbid refuses a request whose key lacks a scope.
func (v *server) forbid(key *Key, scope Scope) answer {
	v.warnOnce("a key without the scope is refused", "key", key.Name, "scope", scope)
	return refused(http.StatusForbidden, "ForbiddenError", "API key lacks scope "+string(scope))
}

// warnOnce logs each line once. Lines hold only names of the configuration: there are
// few.
func (v *server) warnOnce(what string, about ...any) {
	if _, known := v.warned.LoadOrStore(fmt.Sprint(append([]any{what}, about...)...), true); !known {
		v.sim.cfg.Logger.Warn(what, about...)
	}
}
