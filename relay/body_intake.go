package relay

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// MaxBody is the largest delivery that a relay accepts, in bytes.
	MaxBody = 1 << 20

	// smallBody is how much of a body may be read without a share of the memory.
	smallBody = 16 << 10
)

// readBody reads the body of req, which declares at most MaxBody, to its end. Its memory grows with what arrives,
// whatever was declared, and is returned when the share is left.
func readBody(memory *bodyMemory, w http.ResponseWriter, req *http.Request) (body []byte, share *bodyShare, err error) {
	most := int(req.ContentLength)
	if most < 0 {
		req.Body = http.MaxBytesReader(w, req.Body, MaxBody)
		most = MaxBody
	}
	most++ // to see the end
	share = memory.share(func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // without a deadline the read ends by itself
	})
	body = make([]byte, 0, min(most, smallBody))
	for {
		if len(body) == cap(body) {
			size := min(cap(body)*5/4, most)
			if err := share.grow(req.Context(), size-share.held); err != nil {
				return body, share, err
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := req.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF && int64(len(body)) < req.ContentLength:
			return body, share, io.ErrUnexpectedEOF
		case err == io.EOF:
			return body, share, share.settle()
		case err != nil:
			return body, share, errors.Join(share.settle(), err)
		}
	}
}
