package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
)

// A stand-in is told from the service by its answers, not by its address: what
// listens on loopback may be a tunnel to the real one. A client asks there with a
// word of its own in each request, and a stand-in answers with what it makes of it.
// An answer that was kept, or that echoes the request, proves nothing.
//
// Since the next request may reach somebody else, a confirm that takes no account
// of real money carries another key, which is made of the account's. A stand-in
// takes it; to the service it is no key at all.
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
