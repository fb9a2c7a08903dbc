package relay

import (
	"encoding/json"
	"log/slog"
	"net/http"
)

// retrySeconds is how long a client is asked to wait that may try again, in seconds.
const retrySeconds = "2"

// answer writes a whole answer.
func answer(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// refuse answers with what is wrong. Whoever may try again is told when.
func refuse(w http.ResponseWriter, status int, message string) {
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", retrySeconds)
	}
	text, _ := json.Marshal(map[string]string{"message": message}) // a text always has a JSON form
	answer(w, status, "application/json", append(text, '\n'))
}

// answerJSON answers 200 with a value.
func (r *Relay) answerJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		r.logger.Error("an answer has no JSON form", slog.String("error", err.Error()))
		refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	answer(w, http.StatusOK, "application/json", append(text, '\n'))
}
