package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tillwatch/api/durable"
)

// Documents are small texts stored next to the journal that several relays share. An empty text was never written.
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

const (
	tokenFileName    = "tokens.json"
	sharedTokensName = "tokens"
)

// NewTokenFile stores tokens in dir, the data folder of a relay. Neither the folder nor the file need exist.
func NewTokenFile(dir string) TokenStore {
	folder := folderDocuments{dir: dir}
	folder.info, _ = os.Stat(dir) // it need not exist
	return TokenStore{folder, tokenFileName, filepath.Join(dir, tokenFileName)}
}

// NewSharedTokens stores the tokens of all relays on one database.
func NewSharedTokens(d Documents) TokenStore {
	return TokenStore{d, sharedTokensName, `the row "tokens" of tillwatch_documents in the relays' database`}
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
	tokens, err := decodeTokens(text)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it, or remove it and create the tokens anew", s.place, err)
	}
	return tokens, nil
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
	without := func(tokens []Token) ([]Token, error) {
		at := slices.IndexFunc(tokens, func(t Token) bool { return t.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no token named %.64q; tokens are: %s", name, namesOf(tokens))
		}
		return slices.Delete(tokens, at, at+1), nil
	}
	tokens, err := s.Read(ctx)
	if err == nil {
		_, err = without(tokens)
	}
	if err != nil {
		return err
	}
	return s.change(ctx, without)
}

func (s TokenStore) change(ctx context.Context, edit func([]Token) ([]Token, error)) error {
	return s.documents.ChangeDocument(ctx, s.name, func(text []byte) ([]byte, error) {
		tokens, err := s.decode(text)
		if err != nil {
			return nil, err
		}
		if tokens, err = edit(tokens); err != nil {
			return nil, err
		}
		return encodeTokens(tokens)
	})
}

// folderDocuments stores each document as a file in a folder.
type folderDocuments struct {
	dir  string
	info os.FileInfo // the folder's at first; nil if there was none
}

// documentWait is how long a change waits for that of another process.
const documentWait = 2 * time.Second

// Document implements [Documents]. An existing empty file was damaged. Without its folder, nobody knows what it holds.
func (f folderDocuments) Document(_ context.Context, name string) ([]byte, error) {
	path := filepath.Join(f.dir, name)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !f.inPlace():
		return nil, fmt.Errorf("the folder %s was removed, renamed or replaced while it was in use: put it back", f.dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && len(text) == 0:
		return nil, fmt.Errorf("%s cannot be read (it is empty): restore it, or remove it and begin anew", path)
	}
	return text, err
}

// inPlace reports whether the folder is the one that was there at first, if there was one.
func (f folderDocuments) inPlace() bool {
	now, err := os.Stat(f.dir)
	return f.info == nil || err == nil && os.SameFile(now, f.info)
}

// ChangeDocument implements [Documents]. It replaces the whole file.
func (f folderDocuments) ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error {
	path := filepath.Join(f.dir, name)
	return durable.Exclusively(ctx, path, documentWait, func() error {
		text, err := f.Document(ctx, name)
		if err != nil {
			return err
		}
		if text, err = edit(text); err != nil {
			return err
		}
		return durable.Replace(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	})
}
