package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/knadh/koanf/v2"

	"tillwatch/api"
)

// MostBytes is the most bytes of a file of settings or of a secret.
const MostBytes = 1 << 20

// ReadFile reads a file of settings or of a secret, of at most 1 MiB, by the rule for its text:
// [api.FileText] or [api.SecretText]. Its errors are [fs.PathError]s.
func ReadFile(path string, rule func([]byte) ([]byte, error)) ([]byte, error) {
	var content []byte
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		content, err = ReadAll(file, MostBytes)
	}
	if err == nil {
		content, err = rule(content)
	}
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return content, err
}

// ReadAll reads everything, and refuses more than most bytes.
func ReadAll(from io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	return content, err
}

// ReadSecret reads a file's secret, without the line break that editors append. A file without one is being written,
// or was lost: it is refused. The error does not repeat a name that may be the secret itself, given where its file
// belongs: it may hold slashes, but rarely begins with one.
func ReadSecret(path string) (string, error) {
	content, err := ReadFile(path, api.SecretText)
	secret := strings.TrimRight(string(content), "\r\n")
	if err == nil && strings.TrimSpace(secret) == "" {
		err = fmt.Errorf("%s holds no secret", path)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		_, missing := os.Lstat(path)
		if missing != nil && (!filepath.IsAbs(path) || api.MaskAddress(api.Scrub(path)) != api.Scrub(path)) {
			err = fmt.Errorf("%w: give the name of a file that holds the secret, not the secret itself", failed.Err)
		}
	}
	return secret, err
}

// readSecrets replaces KEY_file by the secret in the file, and notes the file. A secret beside it wins.
func (s *Settings) readSecrets(k *koanf.Koanf) (wrong []error) {
	s.SecretFiles = map[string]string{}
	for _, key := range secretKeys() {
		path := k.String(key + "_file")
		k.Delete(key + "_file")
		text := k.String(key)
		if _, err := api.SecretText([]byte(text)); err != nil { // as in a file
			k.Delete(key)
			wrong = append(wrong, fmt.Errorf("%s: %w", key, err))
			continue
		}
		if path == "" || text != "" {
			continue
		}
		secret, err := ReadSecret(path)
		if err == nil {
			s.SecretFiles[key], err = path, k.Set(key, secret)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("reading the file that %s_file names: %w", key, err))
		}
	}
	return wrong
}
