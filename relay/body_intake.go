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

	// smallBody is what may be read of a body without a share of the memory.
	smallBody = 16 << 10
)

// intake is the body of a request while it is read and checked.
type intake struct {
	body  []byte
	most  int // bytes that it can have
	share *bodyShare
}

// intakeFrom takes the body of req, which declares no more than MaxBody, in. The
// memory that it needs is given back by leave.
func intakeFrom(memory *bodyMemory, w http.ResponseWriter, req *http.Request) *intake {
	most := int(req.ContentLength)
	if most < 0 {
		req.Body = http.MaxBytesReader(w, req.Body, MaxBody)
		most = MaxBody
	}
	return &intake{most: most, share: memory.share(func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // where there is none, the read ends by itself
	})}
}

// intake is that of a delivery.
func (r *Relay) intake(w http.ResponseWriter, req *http.Request) *intake {
	memory := r.unverifiedBodies
	if isVerifiedConnection(req.Context()) {
		memory = r.verifiedBodies
	}
	return intakeFrom(memory, w, req)
}

// read reads the body to its end. Its memory grows with what has come, whatever
// was declared.
func (in *intake) read(req *http.Request) error {
	most := in.most + 1 // for the end to be seen
	in.body = make([]byte, 0, min(most, smallBody))
	for {
		if len(in.body) == cap(in.body) {
			size := min(cap(in.body)*5/4, most)
			if err := in.share.grow(req.Context(), size-in.share.held); err != nil {
				return err
			}
			in.body = append(make([]byte, 0, size), in.body...)
		}
		n, err := req.Body.Read(in.body[len(in.body):cap(in.body)])
		in.body = in.body[:len(in.body)+n]
		switch {
		case err == io.EOF && int64(len(in.body)) < req.ContentLength:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return in.share.settle()
		case err != nil:
			return errors.Join(in.share.settle(), err)
		}
	}
}

// leave gives back the memory that the body took.
func (in *intake) leave() { in.share.leave() }
