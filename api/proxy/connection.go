package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"tillwatch/api/listener"
)

const (
	// goneAfter is how long an answer may take before the proxy watches whether the client is still there.
	goneAfter = 50 * time.Millisecond
	// restTimeout bounds the wait for what a client still sends after its answer.
	restTimeout = 500 * time.Millisecond
	// maxUnread is how many bytes of an unread body are read to keep the connection, and of a request in the clear
	// where TLS is spoken.
	maxUnread = 256 << 10
)

// connection is a client's connection. One goroutine reads its requests, one after another, and passes each on.
//
// It stands in for net/http's server, which has a second goroutine watch the client from the start of each request, and
// keeps a second buffer for each connection that waits ([BenchmarkLatency], [BenchmarkIdle]).
type connection struct {
	bounded
	proxy *Proxy
	ctx   context.Context // ends once the client has gone
	gone  context.CancelFunc

	in     *bufio.Reader
	answer *answer // under way

	timer            *time.Timer // starts watching
	body             *clientBody // of the request under way
	unwatch, watched chan struct{}
}

// serve serves a client until it leaves, breaks the rules, or the proxy ends.
func (p *Proxy) serve(conn net.Conn) {
	c := &connection{bounded: bounded{Conn: conn, left: math.MaxInt}, proxy: p, unwatch: make(chan struct{}), watched: make(chan struct{})}
	c.in = bufio.NewReaderSize(&c.bounded, readerSize)
	c.timer = time.AfterFunc(math.MaxInt64, c.watching)
	c.timer.Stop()
	c.ctx, c.gone = context.WithCancel(context.Background())
	defer func() {
		if panicked := recover(); panicked != nil {
			p.logger.Error("a connection ended in a panic", slog.Any("panic", panicked), slog.String("stack", string(debug.Stack())))
		}
		c.gone()
		_ = conn.Close() // nothing is lost
		p.clients.leave(conn)
	}()
	for wait := headerTimeout; c.await(wait); wait = idleTimeout {
		if !c.exchange() {
			return
		}
	}
}

// await waits for a request, and reports whether one begins.
func (c *connection) await(wait time.Duration) bool {
	c.body, c.answer = nil, nil
	if !c.requestBegan() && !c.proxy.clients.await(c.Conn, wait) {
		return false
	}
	first, err := c.in.Peek(1)
	for err == nil && emptyLine(first[0]) {
		_, _ = c.in.Discard(1)
		first, err = c.in.Peek(1)
	}
	if err == nil {
		c.proxy.clients.begin(c.Conn)
		return true
	}
	if clear := (tls.RecordHeaderError{}); errors.As(err, &clear) && clear.Conn != nil {
		c.answer = c.proxy.newAnswer(clear.Conn, nil)
		defer c.answer.end()
		c.answer.last = true
		c.answer.refuse(http.StatusBadRequest, "BadRequestError", "this address speaks TLS: use it with https://")
		c.linger(clear.Conn, maxUnread)
	}
	if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed) {
		c.proxy.logger.Debug("a connection broke", slog.String("error", err.Error()))
	}
	return false
}

// requestBegan reports whether the beginning of a request is in the buffer.
func (c *connection) requestBegan() bool {
	came, _ := c.in.Peek(c.in.Buffered())
	return len(bytes.Trim(came, "\r\n")) > 0
}

// emptyLine reports whether a character before a request is of an empty line. Some clients send one after a body
// (RFC 9112, section 2.2).
func emptyLine(first byte) bool { return first == '\r' || first == '\n' }

// exchange reads a request, passes it on, and answers it. It reports whether another may follow.
func (c *connection) exchange() (more bool) {
	c.left = maxHeader + readerSize // the last read may be of the body
	if !c.headerCame() && c.SetReadDeadline(time.Now().Add(headerTimeout)) != nil {
		return false
	}
	r, err := http.ReadRequest(c.in)
	c.left = math.MaxInt
	if err == nil && r.ContentLength != 0 && c.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	c.answer = c.proxy.newAnswer(c.Conn, r)
	defer c.answer.end()
	if status, why := invalid(r, err); status != 0 {
		c.proxy.logger.Debug("a request was refused", slog.Int("status", status), slog.String("reason", why))
		c.answer.last = true
		c.answer.refuse(status, strings.ReplaceAll(http.StatusText(status), " ", "")+"Error", why)
		c.linger(c.Conn, math.MaxInt64)
		return false
	}
	if err != nil {
		return false // it broke, or the client took too long
	}
	c.answer.last = r.Close || listener.LengthInDoubt(r) || c.proxy.clients.leaving()
	body := newClientBody(r, c.answer, c.in.Buffered())
	c.answer.body = body
	c.watch(body)
	// The trace is the answer's own: net/http may call it when the request has already failed.
	ctx := httptrace.WithClientTrace(c.ctx, c.answer.trace())
	whole := c.proxy.pass(ctx, r, body, c.answer)
	c.endWatch()
	switch {
	case !whole:
		return false
	case !c.rest(body) || c.answer.last:
		c.linger(c.Conn, math.MaxInt64)
		return false
	}
	return c.ctx.Err() == nil
}

// headerCame reports whether the whole header of a request is in the buffer.
func (c *connection) headerCame() bool {
	came, _ := c.in.Peek(c.in.Buffered())
	return bytes.Contains(came, []byte("\r\n\r\n"))
}

// invalid returns the status with which to refuse a request, and why; 0 if the request is valid.
func invalid(r *http.Request, err error) (status int, why string) {
	switch {
	case errors.Is(err, errHeaderTooLarge):
		return http.StatusRequestHeaderFieldsTooLarge, "the header of the request is larger than 64 KiB"
	case err != nil && strings.HasPrefix(err.Error(), "unsupported transfer encoding"): // net/http has no type for it
		return http.StatusNotImplemented, "the only transfer encoding that this proxy knows is chunked"
	case errors.As(err, new(*url.Error)): // it is a net.Error, too
		return http.StatusBadRequest, "the target of the request cannot be read"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(net.Error)):
		return 0, ""
	case err != nil:
		return http.StatusBadRequest, "the request cannot be read"
	case r.ProtoMajor != 1:
		return http.StatusHTTPVersionNotSupported, "this proxy speaks HTTP/1.1"
	case r.Host == "" && r.ProtoAtLeast(1, 1), !httpguts.ValidHostHeader(r.Host):
		return http.StatusBadRequest, "the request names no host"
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) || slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return http.StatusBadRequest, "a header of the request has a character that is not allowed"
		}
	}
	return 0, ""
}

// watch begins to watch the client while it waits for an answer. If the client leaves, the connection's context ends.
func (c *connection) watch(body *clientBody) {
	c.body = body
	c.timer.Reset(goneAfter)
}

// watching is the goroutine that watches, once the request has been read whole.
func (c *connection) watching() {
	defer close(c.watched)
	select {
	case <-c.body.ended:
	case <-c.unwatch:
		return
	}
	_ = c.SetReadDeadline(time.Time{}) // of the wait for the request
	select {
	case <-c.unwatch: // the deadline that endWatch set may be gone
		return
	default:
	}
	if _, err := c.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone()
	}
}

// endWatch ends the goroutine and waits for it. What it has read stays in the buffer.
func (c *connection) endWatch() {
	if c.timer.Stop() {
		return
	}
	close(c.unwatch)
	_ = c.SetReadDeadline(time.Unix(1, 0)) // that the connection is closed shows at the next read
	<-c.watched
	_ = c.SetReadDeadline(time.Time{})
	c.unwatch, c.watched = make(chan struct{}), make(chan struct{})
}

// rest reads what remains of a request's body once the answer has been sent. It reports whether the next request
// follows.
func (c *connection) rest(body *clientBody) bool {
	if body.over() {
		return true
	}
	if c.SetReadDeadline(time.Now().Add(restTimeout)) != nil {
		return false
	}
	return body.drain(maxUnread)
}

// linger reads what the client still sends, for a while and up to a limit: if the connection were closed before, the
// client might not get its answer.
func (c *connection) linger(conn net.Conn, limit int64) {
	c.answer.end()
	half, can := conn.(interface{ CloseWrite() error })
	if !can || half.CloseWrite() != nil || conn.SetReadDeadline(time.Now().Add(restTimeout)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, limit) // until it has ended, or the time is over
}
