package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	tokenFileName = "tokens.json"
	tokenFileWait = 2 * time.Second
	// tokenFileStale is the age at which an unfinished change counts as given up.
	tokenFileStale = 10 * time.Second
)

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// TokenFile is the file in a relay's data folder that keeps the issued tokens,
// hashed. Commands change it while a relay runs: every change replaces the file
// as a whole, and one change at a time is made.
type TokenFile struct{ path string }

// NewTokenFile names the file of the relay whose data is in folder dir. It need
// not exist.
func NewTokenFile(dir string) TokenFile { return TokenFile{filepath.Join(dir, tokenFileName)} }

type tokenFileContent struct {
	Tokens []Token `json:"tokens"`
}

// Stat tells whether the file has changed; it is nil while there is none.
func (f TokenFile) Stat() fs.FileInfo {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil
	}
	return info
}

// Read returns the tokens; none when there is no file.
func (f TokenFile) Read() ([]Token, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the relay's tokens: %w", err)
	}
	var content tokenFileContent
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it, or remove it and create the tokens anew", f.path, err)
	}
	for _, token := range content.Tokens {
		if err := token.check(); err != nil {
			return nil, fmt.Errorf("%s: token %.64q: %w", f.path, token.Name, err)
		}
	}
	return content.Tokens, nil
}

func (t Token) check() error {
	if !tokenName.MatchString(t.Name) {
		return errors.New("a name has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit")
	}
	if t.Hash == (TokenHash{}) {
		return errors.New("its hash is missing")
	}
	names := make([]string, len(t.Scopes))
	for i, scope := range t.Scopes {
		names[i] = string(scope)
	}
	_, err := ParseScopes(names)
	return err
}

// Add keeps a token under a name that no other has.
func (f TokenFile) Add(token Token) error {
	if err := token.check(); err != nil {
		return err
	}
	return f.change(func(tokens []Token) ([]Token, error) {
		if slices.ContainsFunc(tokens, func(t Token) bool { return t.Name == token.Name }) {
			return nil, fmt.Errorf("there is a token named %s already: revoke it first, or choose another name", token.Name)
		}
		return append(tokens, token), nil
	})
}

// Remove forgets the token of that name.
func (f TokenFile) Remove(name string) error {
	return f.change(func(tokens []Token) ([]Token, error) {
		at := slices.IndexFunc(tokens, func(t Token) bool { return t.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no token named %.64q; tokens are: %s", name, namesOf(tokens))
		}
		return slices.Delete(tokens, at, at+1), nil
	})
}

func namesOf(tokens []Token) string {
	if len(tokens) == 0 {
		return "none"
	}
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// change replaces the file. The new one, until it is renamed, keeps others from
// changing it too.
func (f TokenFile) change(edit func([]Token) ([]Token, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the relay's folder: %w", err)
	}
	next, err := f.begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(next.Name()))
		}
	}()
	text, err := f.edited(edit)
	if err == nil {
		_, err = next.Write(text)
	}
	if err == nil {
		err = next.Sync()
	}
	if err := errors.Join(err, next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), f.path)
}

func (f TokenFile) edited(edit func([]Token) ([]Token, error)) ([]byte, error) {
	tokens, err := f.Read()
	if err != nil {
		return nil, err
	}
	if tokens, err = edit(tokens); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(tokenFileContent{append([]Token{}, tokens...)}, "", "  ")
	return append(text, '\n'), err
}

// begin creates the new file, which nobody else has begun.
func (f TokenFile) begin() (*os.File, error) {
	name := f.path + ".new"
	deadline := time.Now().Add(tokenFileWait)
	for {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			if err != nil {
				err = fmt.Errorf("change the relay's tokens: %w", err)
			}
			return file, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > tokenFileStale {
			_ = os.Remove(name) // whoever began it has died
			continue
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the relay's tokens are being changed by somebody else: try again in %s", tokenFileStale)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
