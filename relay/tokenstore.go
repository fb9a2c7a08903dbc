package relay

import (
	"context"
	"fmt"
)

// TokenStore keeps issued tokens, hashed, for one relay or for several. Commands
// change it while relays run.
type TokenStore interface {
	// Read returns every token, expired ones included.
	Read(ctx context.Context) ([]Token, error)
	// Add keeps a token under a name that no other has.
	Add(ctx context.Context, token Token) error
	// Remove forgets the token of that name.
	Remove(ctx context.Context, name string) error
}

var (
	_ TokenStore = TokenFile{}
	_ TokenStore = SharedTokens{}
)

// Documents are small texts beside the events of a journal that several relays
// share; an empty one is one that nobody has written.
type Documents interface {
	Document(ctx context.Context, name string) ([]byte, error)
	ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error
}

const sharedTokensName = "tokens"

// SharedTokens are the tokens of all relays on one database.
type SharedTokens struct{ documents Documents }

// NewSharedTokens are the tokens beside a shared journal.
func NewSharedTokens(d Documents) SharedTokens { return SharedTokens{d} }

// Read implements [TokenStore].
func (s SharedTokens) Read(ctx context.Context) ([]Token, error) {
	text, err := s.documents.Document(ctx, sharedTokensName)
	if err != nil {
		return nil, fmt.Errorf("read the relays' tokens: %w", err)
	}
	return decodeShared(text)
}

func decodeShared(text []byte) ([]Token, error) {
	if len(text) == 0 {
		return nil, nil
	}
	tokens, err := decodeTokens(text)
	if err != nil {
		return nil, fmt.Errorf("the tokens in the relays' database cannot be read: %w", err)
	}
	return tokens, nil
}

// Add implements [TokenStore].
func (s SharedTokens) Add(ctx context.Context, token Token) error {
	if err := token.Check(); err != nil {
		return err
	}
	return s.change(ctx, adding(token))
}

// Remove implements [TokenStore].
func (s SharedTokens) Remove(ctx context.Context, name string) error {
	return s.change(ctx, removing(name))
}

func (s SharedTokens) change(ctx context.Context, edit tokenEdit) error {
	return s.documents.ChangeDocument(ctx, sharedTokensName, func(text []byte) ([]byte, error) {
		tokens, err := decodeShared(text)
		if err != nil {
			return nil, err
		}
		if tokens, err = edit(tokens); err != nil {
			return nil, err
		}
		return encodeTokens(tokens)
	})
}
