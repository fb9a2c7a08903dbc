// Package signature makes and reads the signatures of deliveries, and says why one is
// wrong.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"tillwatch/api"
)

// Version is the prefix of a signature.
const Version = "v0="

// Sum is the value of a signature: the HMAC-SHA256 of the raw body, keyed by the
// secret's text (contract, Authentication).
type Sum [sha256.Size]byte

// Of signs a body.
func Of(secret api.Secret, body []byte) Sum { return sum(secret.Reveal(), body) }

func sum(key string, body []byte) (s Sum) {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	mac.Sum(s[:0])
	return s
}

// String returns the signature as the header carries it.
func (s Sum) String() string { return Version + hex.EncodeToString(s[:]) }

// Parse reads the value of a signature header: v0= and 64 lower-case hexadecimal digits,
// nothing else.
func Parse(text string) (s Sum, ok bool) {
	digits, prefixed := strings.CutPrefix(text, Version)
	if !prefixed || len(digits) != hex.EncodedLen(len(s)) || strings.ToLower(digits) != digits {
		return s, false
	}
	_, err := hex.Decode(s[:], []byte(digits))
	return s, err == nil
}
