package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"unique"
)

const redacted = "[redacted]"

// Secret is a key, token or signing secret. Every way of printing it yields
// "[redacted]"; only [Secret.Reveal] gives the text itself. Two secrets compare
// equal with == when their texts are equal; [Secret.Equal] does so in constant
// time.
type Secret struct {
	// fmt prints unexported fields of unexported fields without asking their
	// methods: behind a pointer it finds an address and no text.
	text unique.Handle[string]
}

// NewSecret wraps text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{unique.Make(text)}
}

// Reveal returns the secret itself, for the one line that needs it.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s == Secret{} }

// Equal reports whether both hold the same text, in a time that depends on
// their lengths only.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// Fingerprint is a name for the secret, one for each purpose: equal secrets have
// equal ones. It is 64 bits of an HMAC-SHA256 (RFC 2104) that is keyed with the
// secret, so it gives away nothing of the text.
func (s Secret) Fingerprint(purpose string) string {
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	io.WriteString(mac, "tillwatch fingerprint\x00"+purpose)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// String hides the secret.
func (s Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return redacted }

// Format hides the secret from every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from every text encoding, JSON among them.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText takes text as the secret, so that a configuration can hold one.
// What MarshalText wrote is refused: the secret is not in it.
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == redacted {
		return errors.New("the secret was redacted when this was written: set it anew")
	}
	*s = NewSecret(string(text))
	return nil
}
