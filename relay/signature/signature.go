// Package signature reads the signatures of deliveries and names why one is wrong.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"tillwatch/api"
)

// Version is what a signature begins with.
const Version = "v0="

// Sum is what a signature says: the HMAC-SHA256 of the raw body, keyed by the
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

// String is the signature as the header carries it.
func (s Sum) String() string { return Version + hex.EncodeToString(s[:]) }

// Parse reads the value of a signature header: v0= and 64 lower-case hexadecimal
// digits, and nothing else.
func Parse(text string) (s Sum, ok bool) {
	digits, is := strings.CutPrefix(text, Version)
	if !is || len(digits) != hex.EncodedLen(len(s)) || strings.ToLower(digits) != digits {
		return s, false
	}
	_, err := hex.Decode(s[:], []byte(digits))
	return s, err == nil
}
