package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	tokenFileName = "tokens.json"
	tokenFileWait = 2 * time.Second
	// tokenFileStale is the age at which an unfinished change counts as given up.
	tokenFileStale = 10 * time.Second
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

// change replaces the file. The new one, until it is renamed, keeps others from
// changing it too.
func (f TokenFile) change(ctx context.Context, edit tokenEdit) (err error) {
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
	text, err := f.edited(ctx, edit)
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
