package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"tillwatch/api/durable"
)

const (
	tokenFileName  = "tokens.json"
	tokenFileWait  = 2 * time.Second // for somebody else's change to end
	tokenFileRetry = 20 * time.Millisecond
)

// TokenFile is the file in a relay's data folder that keeps the issued tokens,
// hashed. Commands change it while a relay runs: every change replaces the file
// as a whole, and one change at a time is made.
type TokenFile struct{ path string }

// NewTokenFile names the file of the relay whose data is in folder dir. It need
// not exist.
func NewTokenFile(dir string) TokenFile { return TokenFile{filepath.Join(dir, tokenFileName)} }

// Read returns the tokens; none when there is no file.
func (f TokenFile) Read(context.Context) ([]Token, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the relay's tokens: %w", err)
	}
	tokens, err := decodeTokens(text)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): restore it, or remove it and create the tokens anew", f.path, err)
	}
	return tokens, nil
}

// Add keeps a token under a name that no other has.
func (f TokenFile) Add(ctx context.Context, token Token) error {
	if err := token.Check(); err != nil {
		return err
	}
	return f.change(ctx, adding(token))
}

// Remove forgets the token of that name.
func (f TokenFile) Remove(ctx context.Context, name string) error {
	return f.change(ctx, removing(name))
}

// change replaces the file, while nobody else changes it.
func (f TokenFile) change(ctx context.Context, edit tokenEdit) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the relay's folder: %w", err)
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	waiting, cancel := context.WithTimeout(ctx, tokenFileWait)
	defer cancel()
	if _, err := lock.TryLockContext(waiting, tokenFileRetry); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return errors.New("the relay's tokens are being changed by somebody else: try again in a moment")
	} else if err != nil {
		return fmt.Errorf("change the relay's tokens: %w", err)
	}
	defer lock.Close()
	text, err := f.edited(ctx, edit)
	if err != nil {
		return err
	}
	return durable.Replace(f.path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (f TokenFile) edited(ctx context.Context, edit tokenEdit) ([]byte, error) {
	tokens, err := f.Read(ctx)
	if err != nil {
		return nil, err
	}
	if tokens, err = edit(tokens); err != nil {
		return nil, err
	}
	return encodeTokens(tokens)
}
