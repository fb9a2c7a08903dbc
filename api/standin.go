package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
)

// A stand-in is recognized by its answers, not by its address: what listens on loopback
// may be a tunnel to the real service. There a client puts a random word into each
// request, and a stand-in answers with what it makes of it. A cached answer, or an echo
// of the request, proves nothing.
//
// Since the next request may reach another server, a confirm without the guards of
// real money carries another key, derived from the account's. A stand-in accepts it; the
// service does not.
const standInHeader = "Tillwatch-Stand-In"

// AnswerAsStandIn marks an answer as a stand-in's, where the request asks for that. A
// stand-in calls it for every answer; nobody else does.
func AnswerAsStandIn(header http.Header, r *http.Request) {
	if word := r.Header.Get(standInHeader); word != "" {
		header.Set(standInHeader, standInAnswer(word))
	}
}

// StandInKey is the key that a stand-in takes beside the account's, and the service
// refuses.
func StandInKey(key Secret) Secret {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	io.WriteString(mac, "tillwatch: for a stand-in alone")
	return NewSecret("stand-in-" + hex.EncodeToString(mac.Sum(nil)))
}

func askStandIn(header http.Header) { header.Set(standInHeader, rand.Text()) }

func standInAnswer(word string) string {
	sum := sha256.Sum256([]byte("tillwatch: a stand-in answers " + word))
	return hex.EncodeToString(sum[:])
}

func answersAsStandIn(header http.Header, word string) bool {
	said := header.Values(standInHeader)
	return len(said) == 1 && said[0] == standInAnswer(word)
}
