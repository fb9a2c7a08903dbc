package proxy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// saidBy begins every message of a proxy of its own, which passes all others on unchanged.
const saidBy = "tillwatch proxy: "

// Listens reports whether a proxy of this package listens at an address, host:port. It asks for a websocket, which
// such a proxy refuses by itself: the service gets no request, and no quota is spent.
func Listens(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return false
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "websocket")
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var refusal struct{ Message string }
	return answer.StatusCode == http.StatusNotImplemented &&
		json.NewDecoder(io.LimitReader(answer.Body, 4<<10)).Decode(&refusal) == nil && strings.HasPrefix(refusal.Message, saidBy)
}
