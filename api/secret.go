package api

import "log/slog"

const redacted = "[redacted]"

// Secret is a key, token or signing secret. Every way of printing it yields
// "[redacted]"; only [Secret.Reveal] gives the text itself.
type Secret struct{ text string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the secret itself, for the one line that needs it.
func (s Secret) Reveal() string { return s.text }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == "" }

// String hides the secret.
func (s Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return redacted }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from every text encoding, JSON among them.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText takes text as the secret, so that a configuration can hold one.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}
