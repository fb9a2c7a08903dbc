package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// clientBody is the body of a request. Its errors are marked, to distinguish a client that breaks off from a
// service that does.
type clientBody struct {
	body   io.Reader
	whole  []byte        // all of it, if it came with the header and is not empty
	wanted func()        // called before it is first read
	ended  chan struct{} // closed once it has been read whole

	reading sync.Mutex // held while it is read
	closed  bool       // it is no longer the service's to read
}

type clientError struct{ error }

// gone reports whether the client has left, or sends nothing any more, in the middle of the body.
func (e clientError) gone() bool {
	return errors.Is(e.error, io.ErrUnexpectedEOF) || errors.As(e.error, new(net.Error))
}

// newClientBody returns the body of r, of which so many bytes have come already.
func newClientBody(r *http.Request, a *answer, came int) *clientBody {
	b := &clientBody{body: r.Body, ended: make(chan struct{})}
	switch {
	case r.ContentLength == 0:
		close(b.ended)
	case httpguts.HeaderValuesContainsToken(r.Header["Expect"], "100-continue"):
		b.wanted = sync.OnceFunc(a.proceed)
	case r.ContentLength > 0 && r.ContentLength <= int64(came):
		b.whole = make([]byte, r.ContentLength)
		_, _ = io.ReadFull(r.Body, b.whole) // it is in memory
		close(b.ended)
	}
	return b
}

// forService returns the body as net/http is to send it: together with the header if it is known whole. A service that
// refuses a request by its header, and closes, would get the rest on a closed connection, and its answer would be lost.
func (b *clientBody) forService() io.ReadCloser {
	if b.whole != nil {
		return io.NopCloser(bytes.NewReader(b.whole))
	}
	return b
}

// Read implements [io.Reader].
func (b *clientBody) Read(part []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(part)
}

func (b *clientBody) read(part []byte) (int, error) {
	if b.wanted != nil {
		b.wanted()
	}
	n, err := b.body.Read(part)
	switch {
	case err == io.EOF:
		if !b.over() {
			close(b.ended)
		}
	case err != nil:
		err = clientError{err}
	}
	return n, err
}

// drain reads what is left, at most limit bytes, once the service reads no more. It reports whether that was all.
func (b *clientBody) drain(limit int64) bool {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.closed = true
	if b.inDoubt() {
		return false
	}
	part := make([]byte, 4<<10)
	for err := error(nil); limit > 0 && err == nil; {
		var n int
		n, err = b.read(part)
		limit -= int64(n)
	}
	return b.over()
}

// inDoubt reports whether the client may send the rest of the body or leave it out: it asked whether the body is wanted.
func (b *clientBody) inDoubt() bool { return b.wanted != nil && !b.over() }

// Close implements [io.Closer]. The connection decides what becomes of what is left.
func (b *clientBody) Close() error { return nil }

// over reports whether the body has been read whole.
func (b *clientBody) over() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}
