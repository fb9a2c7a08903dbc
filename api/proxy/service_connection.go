package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"syscall"
	"time"
)

// serviceConnection is a connection to the service. One request at a time uses it.
type serviceConnection struct {
	bounded
	pool  *reads
	in    *bufio.Reader
	raw   syscall.RawConn // nil: what comes while it is idle cannot be seen
	since time.Time       // when it became idle
}

// connection returns a connection, which may be encrypted, over another.
func (s *reads) connection(conn, bare net.Conn) *serviceConnection {
	if conn == nil {
		return nil
	}
	c := &serviceConnection{bounded: bounded{Conn: conn}, pool: s}
	c.in = bufio.NewReaderSize(&c.bounded, readerSize)
	if socket, ok := bare.(syscall.Conn); ok {
		c.raw, _ = socket.SyscallConn()
	}
	return c
}

// hangUp closes the connection. There is nothing left to say over it.
func (c *serviceConnection) hangUp() { _ = c.Close() }

// quiet reports whether an idle connection is still open, and nothing has come over it. What has would be taken for
// the next answer.
func (c *serviceConnection) quiet() bool { return nothingCame(c.raw) && c.nothingDecrypted() }

// nothingDecrypted reports whether nothing came together with the last answer, in the same encrypted record or
// right behind it.
func (c *serviceConnection) nothingDecrypted() bool {
	if _, encrypted := c.Conn.(*tls.Conn); !encrypted {
		return true
	}
	if c.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	_, err := c.in.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded) && c.SetReadDeadline(time.Time{}) == nil
}

// ask sends a request without a body and returns the answer, whose body belongs to one goroutine.
func (c *serviceConnection) ask(r *http.Request) (*http.Response, error) {
	stay := context.AfterFunc(r.Context(), c.hangUp)
	answer, err := c.exchange(r)
	if err != nil {
		stay()
		c.hangUp()
		return nil, err
	}
	body := &serviceBody{ReadCloser: answer.Body, conn: c, stay: stay}
	body.kept = c.raw != nil && !answer.Close && answer.StatusCode >= http.StatusOK
	if answer.Body == http.NoBody {
		body.end(true)
	} else {
		answer.Body = body
	}
	return answer, nil
}

func (c *serviceConnection) exchange(r *http.Request) (*http.Response, error) {
	c.left = maxHeader + readerSize // the last read may be of the body
	if err := c.send(r); err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(r.Context())
	for {
		answer, err := http.ReadResponse(c.in, r)
		if err != nil || answer.StatusCode/100 != 1 || answer.StatusCode == http.StatusSwitchingProtocols {
			c.left = math.MaxInt
			return answer, err
		}
		if err := trace.Got1xxResponse(answer.StatusCode, textproto.MIMEHeader(answer.Header)); err != nil {
			return nil, err
		}
	}
}

func (c *serviceConnection) send(r *http.Request) error {
	out := c.pool.writers.Get().(*bufio.Writer)
	defer c.pool.writers.Put(out)
	out.Reset(c.Conn)
	defer out.Reset(nil)
	if err := r.Write(out); err != nil {
		return err
	}
	return out.Flush()
}

// serviceBody is the body of an answer. Its end frees the connection.
type serviceBody struct {
	io.ReadCloser
	conn *serviceConnection
	stay func() bool // the connection stays open if the client goes
	kept bool        // the connection may be used again
	over bool
}

// Read implements [io.Reader].
func (b *serviceBody) Read(part []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(part)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close implements [io.Closer]. It does not wait for what is left.
func (b *serviceBody) Close() error {
	b.end(false)
	return nil
}

func (b *serviceBody) end(whole bool) {
	if b.over {
		return
	}
	b.over = true
	if b.stay() && whole && b.kept && b.conn.in.Buffered() == 0 {
		b.conn.pool.give(b.conn)
	} else {
		b.conn.hangUp()
	}
}
