package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"

	"tillwatch/api"
)

// unanswered answers a request that the service did not answer. It reports whether the client got that.
func (p *Proxy) unanswered(ctx context.Context, a *answer, err error) bool {
	var broken clientError
	if ctx.Err() != nil || errors.As(err, &broken) {
		return false // the client has gone
	}
	p.metrics.unanswered.Inc()
	reason, sent := why(err)
	message := "the service cannot be reached, and the request was not sent: " + reason
	if sent {
		message = "the service gave no answer, and whether it acted is not known: " + reason
	}
	p.logger.Warn("the service gave no answer", slog.String("service", p.upstream.Host), slog.String("reason", reason), slog.Bool("sent", sent))
	return a.refuse(http.StatusBadGateway, "BadGatewayError", message)
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
	case errors.Is(err, errHeaderTooLarge), strings.Contains(err.Error(), "response headers exceeded"):
		return "the header of its answer is too large", true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		strings.Contains(err.Error(), "server closed idle connection"):
		return "the connection broke", true
	}
	return "its answer could not be read", true
}
