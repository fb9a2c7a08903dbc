package proxy

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"

	"tillwatch/api"
)

// refuse answers with an error in the contract's form (contract, Errors).
func refuse(w http.ResponseWriter, status int, name, message string) {
	w.Header()["Content-Type"] = []string{"application/json; charset=utf-8"}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "message": "tillwatch proxy: " + message}) // a client that is gone needs no answer
}

// unanswered answers a request that the service did not answer.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	var broken clientError
	if r.Context().Err() != nil || errors.As(err, &broken) {
		panic(http.ErrAbortHandler) // the client has gone
	}
	p.metrics.unanswered.Inc()
	reason, sent := why(err)
	message := "the service cannot be reached, and the request was not sent: " + reason
	if sent {
		message = "the service gave no answer, and whether it acted is not known: " + reason
	}
	p.logger.Warn("the service gave no answer", slog.String("service", p.upstream.Host), slog.String("reason", reason), slog.Bool("sent", sent))
	refuse(w, http.StatusBadGateway, "BadGatewayError", message)
}

// why returns the reason of a missing answer, and whether the request may have been
// sent. The reason quotes nothing of an answer that could not be read.
func why(err error) (reason string, sent bool) {
	var dial *net.OpError
	var wrong *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &wrong):
		return string(api.Scrub(err.Error())), false
	case errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "TLS handshake timeout"):
		return "it took too long", true
	case strings.Contains(err.Error(), "response headers exceeded"):
		return "the header of its answer is too large", true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		strings.Contains(err.Error(), "server closed idle connection"):
		return "the connection broke", true
	}
	return "its answer could not be read", true
}
