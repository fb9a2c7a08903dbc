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

// Serve serves the API, and the control API under /control/, on a listener until ctx
// ends, and then waits for the requests under way. Unlike [Simulator.Handler] alone, it
// also answers malformed requests as the service does: with JSON and RateLimit fields.
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

// refusing is a listener that replaces the plain-text refusals of net/http, which no
// handler sees, with those of the service.
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

// Write passes everything on except a refusal of net/http, which is always one write.
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

// CloseWrite implements the interface by which net/http waits until a refusal has
// arrived.
func (c *refusingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal recognizes the answers that net/http gives by itself: to a request that it
// cannot read, with the reason as the body, or to a failed expectation, without one. No
// handler writes these.
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

// refuse returns the answer to a malformed request. It charges nothing.
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
