package relay

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/durable"
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

// TokenHash is the SHA-256 of a token in hexadecimal digits: the only form in which a relay stores it.
type TokenHash string

func hashOf(token string) TokenHash {
	sum := sha256.Sum256([]byte(token))
	return TokenHash(hex.EncodeToString(sum[:]))
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
	return text, Token{
		Name: name, Hash: hashOf(text.Reveal()), Scopes: scopes, Created: now.UTC(), Expires: expires,
	}
}

var (
	tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	tokenHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Check returns what is wrong with a token that is to be stored.
func (t Token) Check() error {
	if !tokenName.MatchString(t.Name) {
		return errors.New(
			"a name has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit")
	}
	if !tokenHash.MatchString(string(t.Hash)) {
		return errors.New("its hash is missing, or is not 64 hexadecimal digits")
	}
	var names []string
	for _, scope := range t.Scopes {
		names = append(names, string(scope))
	}
	_, err := ParseScopes(names)
	return err
}

// Expired reports whether the token has expired at now.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

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
		all = append(all, Token{Hash: hashOf(secret.Reveal()), Scopes: Scopes()})
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
		if subtle.ConstantTimeCompare([]byte(known.Hash), []byte(hash)) == 1 && !known.Expired(now) {
			found, ok = known, true
		}
	}
	return found, ok
}

// bearer returns the hash of a request's bearer token.
func bearer(req *http.Request) (hash TokenHash, carried bool) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return hashOf(token), strings.EqualFold(scheme, "Bearer")
}

// authorized passes on only requests whose token has the scope.
func (r *Relay) authorized(scope Scope, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		hash, carried := bearer(req)
		token, known := r.tokens.find(hash, time.Now())
		switch {
		case !carried || !known:
			w.Header().Set("WWW-Authenticate", `Bearer realm="tillwatch relay"`)
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
		case !slices.Contains(token.Scopes, scope):
			w.Header().Set("WWW-Authenticate",
				fmt.Sprintf(`Bearer realm="tillwatch relay", error="insufficient_scope", scope="%s"`, scope))
			refuse(w, http.StatusForbidden, "the token lacks the scope "+string(scope))
		default:
			vouchFor(req.Context())
			next(w, req)
		}
	})
}

// admits reports whether a token is still valid and has the scope.
func (r *Relay) admits(hash TokenHash, scope Scope) bool {
	token, known := r.tokens.find(hash, time.Now())
	return known && slices.Contains(token.Scopes, scope)
}

// Documents are small texts that several relays share. An empty text was never written.
type Documents interface {
	Document(ctx context.Context, name string) ([]byte, error)
	// ChangeDocument replaces a text with the result of edit, one change at a time.
	ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error
}

// TokenStore stores the hashes of issued tokens, for one relay or several. Commands change it while relays run.
type TokenStore struct {
	documents Documents
	name      string
	place     string // its name in errors
}

// NewTokenFile stores tokens in dir, the data folder of a relay. Neither the folder nor the file need exist.
func NewTokenFile(dir string) TokenStore {
	const name = "tokens.json"
	return TokenStore{folder(dir), name, filepath.Join(dir, name)}
}

// NewSharedTokens stores the tokens of all relays on one database.
func NewSharedTokens(d Documents) TokenStore {
	return TokenStore{d, "tokens", `the row "tokens" of tillwatch_documents in the relays' database`}
}

// tokenList is the stored form of issued tokens.
type tokenList struct {
	Tokens []Token `json:"tokens"`
}

// Read returns every token, including expired ones.
func (s TokenStore) Read(ctx context.Context) ([]Token, error) {
	text, err := s.documents.Document(ctx, s.name)
	if err != nil {
		return nil, fmt.Errorf("read the relay's tokens: %w", err)
	}
	return s.decode(text)
}

func (s TokenStore) decode(text []byte) ([]Token, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var list tokenList
	text, err := api.FileText(text)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a change would lose them
	if err == nil {
		err = decoder.Decode(&list)
	}
	if err == nil && decoder.More() {
		err = errors.New("there is more behind the list")
	}
	for _, token := range list.Tokens {
		if wrong := token.Check(); err == nil && wrong != nil {
			err = fmt.Errorf("token %.64q: %w", token.Name, wrong)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it, or remove it and create the tokens anew",
			s.place, err)
	}
	return list.Tokens, nil
}

// Add stores a token. Its name must be unused.
func (s TokenStore) Add(ctx context.Context, token Token) error {
	if err := token.Check(); err != nil {
		return err
	}
	return s.change(ctx, func(tokens []Token) ([]Token, error) {
		if slices.ContainsFunc(tokens, func(t Token) bool { return t.Name == token.Name }) {
			return nil, fmt.Errorf("there is a token named %s already: revoke it first, or choose another name", token.Name)
		}
		return append(tokens, token), nil
	})
}

// Remove deletes the token of that name. If there is none, it makes no file.
func (s TokenStore) Remove(ctx context.Context, name string) error {
	tokens, err := s.Read(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tokens {
		names = append(names, t.Name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no token named %.64q; tokens are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	return s.change(ctx, func(tokens []Token) ([]Token, error) {
		return slices.DeleteFunc(tokens, func(t Token) bool { return t.Name == name }), nil
	})
}

func (s TokenStore) change(ctx context.Context, edit func([]Token) ([]Token, error)) error {
	return s.documents.ChangeDocument(ctx, s.name, func(text []byte) ([]byte, error) {
		tokens, err := s.decode(text)
		if err == nil {
			tokens, err = edit(tokens)
		}
		if err != nil {
			return nil, err
		}
		text, err = json.MarshalIndent(tokenList{append([]Token{}, tokens...)}, "", "  ")
		return append(text, '\n'), err
	})
}

// folder keeps each document as a file.
type folder string

// documentWait is how long a change waits for that of another process.
const documentWait = 2 * time.Second

// Document implements [Documents]. An existing empty file was damaged.
func (f folder) Document(_ context.Context, name string) ([]byte, error) {
	path := filepath.Join(string(f), name)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && len(text) == 0:
		return nil, fmt.Errorf("%s cannot be read (it is empty): restore it, or remove it and begin anew", path)
	}
	return text, err
}

// ChangeDocument implements [Documents]. It replaces the whole file.
func (f folder) ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error {
	path := filepath.Join(string(f), name)
	return durable.Exclusively(ctx, path, documentWait, func() error {
		text, err := f.Document(ctx, name)
		if err == nil {
			text, err = edit(text)
		}
		if err != nil {
			return err
		}
		return durable.Replace(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	})
}
