package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"tillwatch/api"
)

// saidBy begins every message of a proxy of its own, which passes all others on unchanged.
const saidBy = "tillwatch proxy: "

// errStatus is of an answer that cannot be passed on.
var errStatus = errors.New("it switched protocols, which nobody asked for, or has no such status")

// refuse answers with an error in the contract's form (contract, Errors).
func refuse(w http.ResponseWriter, status int, name, message string) {
	told, _ := json.Marshal(map[string]string{"name": name, "message": saidBy + message}) // two strings
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(told)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(told, '\n')) // a client that is gone needs no answer
}

// unanswered answers a request that the service did not answer.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	var broken clientError
	switch {
	case r.Context().Err() != nil, errors.As(err, &broken) && clientGone(broken):
		panic(http.ErrAbortHandler) // nobody reads an answer
	case broken.error != nil:
		refuse(w, http.StatusBadRequest, "BadRequestError",
			"the body of the request cannot be read, and the service did not get all of it")
		return
	}
	p.metrics.unanswered.Inc()
	sent := w.(*answer).sent.Load()
	reason := why(err, sent)
	message := "the service gave no answer, and whether it acted is not known: "
	if !sent {
		reason = api.Proxied(p.upstream.String(), errors.New(reason)).Error()
		message = "the service cannot be reached, and the request was not sent: "
	}
	p.logger.Warn("the service gave no answer",
		slog.String("service", p.upstream.Host), slog.String("reason", reason), slog.Bool("sent", sent))
	refuse(w, http.StatusBadGateway, "BadGatewayError", message+reason)
}

// clientGone reports whether the client has left, or sends nothing any more, in the middle of its request.
func clientGone(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(net.Error))
}

// why returns the reason of a missing answer. Once the request may have been sent, the reason quotes nothing that came
// over the connection.
func why(err error, sent bool) string {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return string(api.Scrub(err.Error()))
	case errors.Is(err, context.DeadlineExceeded), strings.Contains(err.Error(), "TLS handshake timeout"):
		return "it took too long"
	case strings.Contains(err.Error(), "response headers exceeded"):
		return "the header of its answer is too large"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), strings.Contains(err.Error(), "server closed idle connection"):
		return "the connection broke"
	case sent:
		return "its answer could not be read"
	}
	return string(api.Scrub(err.Error()))
}
