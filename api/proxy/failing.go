package proxy

import (
	"context"
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
	switch {
	case ctx.Err() != nil, errors.As(err, &broken) && broken.gone():
		return false // nobody reads an answer
	case broken.error != nil:
		return a.refuse(http.StatusBadRequest, "BadRequestError", "the body of the request cannot be read, and the service did not get all of it")
	}
	p.metrics.unanswered.Inc()
	reason := why(err, a.sent)
	message := "the service gave no answer, and whether it acted is not known: "
	if !a.sent {
		reason = api.Proxied(p.upstream.String(), errors.New(reason)).Error()
		message = "the service cannot be reached, and the request was not sent: "
	}
	p.logger.Warn("the service gave no answer", slog.String("service", p.upstream.Host), slog.String("reason", reason), slog.Bool("sent", a.sent))
	return a.refuse(http.StatusBadGateway, "BadGatewayError", message+reason)
}

// why returns the reason of a missing answer. Once the request may have been sent, the reason quotes nothing that came
// over the connection.
func why(err error, sent bool) string {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return string(api.Scrub(err.Error()))
	case errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "TLS handshake timeout"):
		return "it took too long"
	case errors.Is(err, errHeaderTooLarge), strings.Contains(err.Error(), "response headers exceeded"):
		return "the header of its answer is too large"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		strings.Contains(err.Error(), "server closed idle connection"):
		return "the connection broke"
	case sent:
		return "its answer could not be read"
	}
	return string(api.Scrub(err.Error()))
}
