package simulator

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Serve answers the API, and the control API under /control/, on a listener until
// ctx ends, and lets those under way finish. Beside [Simulator.Handler] it answers
// what is no request at all as the service does: with JSON and the RateLimit
// fields.
func (s *Simulator) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.server, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(refusing{listener, s.server}) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-done
	return err
}

// refusing is a listener on whose connections the refusals of net/http, which no
// handler sees and which are plain text, become those of the service.
type refusing struct {
	net.Listener
	server *server
}

func (l refusing) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusingConn{conn, l.server}, nil
}

type refusingConn struct {
	net.Conn
	server *server
}

// Write passes on what is written, but for a refusal of net/http, which is one
// write of its own.
func (c *refusingConn) Write(b []byte) (int, error) {
	status, text, ok := refusal(b)
	if !ok {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(c.server.refuse(status, text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite lets net/http wait until a refusal has arrived.
func (c *refusingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal reads one of the answers that net/http gives by itself: the header that
// it writes to what it cannot read, with the reason as the body, or an
// expectation that failed, without one. No handler writes either.
func refusal(b []byte) (status int, text string, ok bool) {
	const (
		version = "HTTP/1.1 "
		unread  = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	)
	if !bytes.HasPrefix(b, []byte(version)) || len(b) < len(version)+3 {
		return 0, "", false
	}
	status, err := strconv.Atoi(string(b[len(version) : len(version)+3]))
	if err != nil {
		return 0, "", false
	}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if reason, ok := bytes.CutPrefix(b[len(line):], []byte(unread)); ok {
		return status, string(bytes.TrimLeft(reason, "0123456789 ")), true
	}
	bodiless := bytes.HasSuffix(rest, []byte("\r\n\r\n")) && bytes.Contains(rest, []byte("\r\nContent-Length: 0\r\n"))
	return status, http.StatusText(status), status == http.StatusExpectationFailed && bodiless
}

// refuse is the answer to what could not be read as a request. It charges nothing.
func (v *server) refuse(status int, text string) []byte {
	s := v.sim
	s.mu.Lock()
	v.counts.Requests++
	fields := s.buckets.untouched(classReads)
	s.mu.Unlock()
	h := http.Header{"Connection": {"close"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	body := head(h, fields, refused(status, "RuntimeError", text))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	h.Write(&b) // to memory: cannot fail
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
