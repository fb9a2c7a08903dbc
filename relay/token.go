package relay

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tillwatch/api"
)

// MinToken is the shortest token that a relay accepts, in bytes: a shorter one could be guessed.
const MinToken = 16

// Scope is a permission of a token.
type Scope string

// The scopes.
const (
	ScopeStream Scope = "stream" // follow the stream
	ScopeRead   Scope = "read"   // read events and bodies page by page
	ScopeReport Scope = "report" // report observations
	ScopeAdmin  Scope = "admin"  // read the metrics
)

// Scopes lists all scopes.
func Scopes() []Scope { return []Scope{ScopeStream, ScopeRead, ScopeReport, ScopeAdmin} }

// ParseScopes reads names of scopes, and drops repetitions.
func ParseScopes(names []string) ([]Scope, error) {
	var scopes []Scope
	for _, name := range names {
		scope := Scope(strings.TrimSpace(name))
		if !slices.Contains(Scopes(), scope) {
			return nil, fmt.Errorf("there is no scope %.40q; scopes are stream, read, report and admin", name)
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return nil, errors.New("a token without a scope may do nothing: give stream, read, report or admin")
	}
	return scopes, nil
}

// TokenHash is the SHA-256 of a token: the only form in which a relay stores it.
type TokenHash [sha256.Size]byte

// hashToken hashes a token.
func hashToken(token api.Secret) TokenHash { return sha256.Sum256([]byte(token.Reveal())) }

// MarshalText writes the hash in hexadecimal digits.
func (h TokenHash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads hexadecimal digits.
func (h *TokenHash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash of %d digits, want %d", len(text), hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Token is an issued token: its scopes and its hash.
type Token struct {
	Name    string    `json:"name"`
	Hash    TokenHash `json:"sha256"`
	Scopes  []Scope   `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
}

// NewToken makes a random token of 130 bits. Only the returned secret holds its text.
func NewToken(name string, scopes []Scope, now, expires time.Time) (api.Secret, Token) {
	text := api.NewSecret(rand.Text())
	return text, Token{Name: name, Hash: hashToken(text), Scopes: scopes, Created: now.UTC(), Expires: expires}
}

// Expired reports whether the token has expired at now.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

func (t Token) allows(scope Scope) bool { return slices.Contains(t.Scopes, scope) }

// tokens are the currently accepted ones.
type tokens struct{ known atomic.Pointer[[]Token] }

// set replaces the tokens. own ones have every scope. On an error the old ones stay.
func (t *tokens) set(own []api.Secret, issued []Token) error {
	var all []Token
	for i, secret := range own {
		switch n := len(secret.Reveal()); {
		case n == 0:
			return errors.New("an empty token would let everyone read: set one or leave it out")
		case n < MinToken:
			return fmt.Errorf("token %d has %d bytes, want at least %d", i+1, n, MinToken)
		}
		all = append(all, Token{Hash: hashToken(secret), Scopes: Scopes()})
	}
	if all = append(all, issued...); len(all) == 0 && t.known.Load() == nil {
		return errors.New("a relay needs a token for those who read its events")
	}
	t.known.Store(&all)
	return nil
}

// find returns the valid token with this hash. It compares all of them, so that the time it takes does not
// reveal which one matched.
func (t *tokens) find(hash TokenHash, now time.Time) (found Token, ok bool) {
	for _, known := range *t.known.Load() {
		if subtle.ConstantTimeCompare(known.Hash[:], hash[:]) == 1 && !known.Expired(now) {
			found, ok = known, true
		}
	}
	return found, ok
}

// bearer returns the hash of a request's bearer token.
func bearer(req *http.Request) (hash TokenHash, carried bool) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return sha256.Sum256([]byte(token)), strings.EqualFold(scheme, "Bearer")
}

// authorized passes on only requests whose token has the scope.
func (r *Relay) authorized(scope Scope, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		hash, carried := bearer(req)
		token, known := r.tokens.find(hash, time.Now())
		switch {
		case !carried || !known:
			w.Header().Set("WWW-Authenticate", `Bearer realm="tillwatch relay"`)
			answer(w, http.StatusUnauthorized, `{"message":"the token is missing or wrong"}`+"\n")
		case !token.allows(scope):
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="tillwatch relay", error="insufficient_scope", scope="%s"`, scope))
			answer(w, http.StatusForbidden, fmt.Sprintf(`{"message":"the token lacks the scope %s"}`+"\n", scope))
		default:
			vouchFor(req.Context())
			next(w, req)
		}
	})
}

// admits reports whether a token is still valid and has the scope.
func (r *Relay) admits(hash TokenHash, scope Scope) bool {
	token, known := r.tokens.find(hash, time.Now())
	return known && token.allows(scope)
}
