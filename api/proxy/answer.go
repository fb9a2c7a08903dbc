package proxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// flushAfter is how long a part of an answer waits for the next, so that both go out together. An answer of
// unknown length never waits.
const flushAfter = 5 * time.Millisecond

// answer writes the answer to one request. While it waits for the service, several goroutines use it.
type answer struct {
	proxy *Proxy
	head  bool // the request was a HEAD
	old   bool // it was of HTTP/1.0
	last  bool // nothing follows on the connection

	mu    sync.Mutex
	out   *bufio.Writer // nil once the answer has ended
	begun bool          // its header has been written
	soon  *time.Timer   // flushes what has been written; nil: there is nothing to flush
}

// newAnswer returns the answer to r, which is nil if the request could not be read.
func (p *Proxy) newAnswer(to net.Conn, r *http.Request) *answer {
	a := &answer{proxy: p, out: p.writers.Get().(*bufio.Writer)}
	a.out.Reset(to)
	if r != nil {
		a.head, a.old = r.Method == http.MethodHead, !r.ProtoAtLeast(1, 1)
	}
	return a
}

// end flushes what has been written. Nothing more is written.
func (a *answer) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out == nil {
		return
	}
	if a.soon != nil {
		a.soon.Stop()
	}
	_ = a.out.Flush() // a client that is gone needs no answer
	a.out.Reset(nil)
	a.proxy.writers.Put(a.out)
	a.out = nil
}

// proceed asks the client for the body of its request.
func (a *answer) proceed() { a.preface(http.StatusContinue, nil) }

// interim passes on what precedes an answer. Whether the body is wanted is said once it is read.
func (c *connection) interim(status int, header textproto.MIMEHeader) error {
	if status != http.StatusContinue && !c.answer.old {
		c.answer.preface(status, http.Header(header))
	}
	return nil
}

// preface writes an interim answer (RFC 9110, section 15.2).
func (a *answer) preface(status int, header http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out == nil || a.begun {
		return
	}
	_, _ = fmt.Fprintf(a.out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(a.out)
	_, _ = a.out.WriteString("\r\n")
	_ = a.out.Flush() // as for all that is written here, a failure shows when the answer is flushed
}

// begin writes the header of the answer.
func (a *answer) begin(status string, header http.Header) {
	if a.last {
		header["Connection"] = []string{"close"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = true
	_, _ = a.out.WriteString("HTTP/1.1 ")
	_, _ = a.out.WriteString(strings.TrimSpace(status))
	_, _ = a.out.WriteString("\r\n")
	_ = header.Write(a.out)
	_, _ = a.out.WriteString("\r\n")
}

// pass writes the service's answer. It returns an error if the service or the client has broken off.
func (a *answer) pass(from *http.Response) error {
	empty := a.head || from.StatusCode == http.StatusNoContent || from.StatusCode == http.StatusNotModified
	unknown := from.ContentLength < 0 && !empty
	removeHopByHop(from.Header)
	switch {
	case unknown && a.old:
		a.last = true
	case unknown || a.head && len(from.TransferEncoding) > 0:
		from.Header["Transfer-Encoding"] = []string{"chunked"}
	case from.StatusCode == http.StatusNoContent:
		delete(from.Header, "Content-Length") // RFC 9110, section 8.6
	}
	if len(from.Trailer) > 0 {
		from.Header["Trailer"] = []string{strings.Join(slices.Sorted(maps.Keys(from.Trailer)), ", ")}
	}
	a.begin(from.Status, from.Header)
	if empty {
		return a.flush()
	}
	if err := a.copy(from, unknown); err != nil {
		return err
	}
	if unknown && !a.old {
		tail := bytes.NewBufferString("0\r\n")
		_ = from.Trailer.Write(tail) // a buffer takes everything
		a.write(tail.Bytes(), []byte("\r\n"))
	}
	return a.flush()
}

// copy writes the body of an answer. Each part of unknown length becomes a chunk.
func (a *answer) copy(from *http.Response, unknown bool) error {
	buffer := a.proxy.buffers.Get().(*[bufferSize]byte)
	defer a.proxy.buffers.Put(buffer)
	for {
		if err := a.flushSoon(unknown); err != nil {
			return err
		}
		n, err := from.Body.Read(buffer[:])
		switch {
		case n > 0 && unknown && !a.old:
			a.write([]byte(strconv.FormatInt(int64(n), 16)+"\r\n"), buffer[:n], []byte("\r\n"))
		case n > 0:
			a.write(buffer[:n])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (a *answer) write(parts ...[]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, part := range parts {
		_, _ = a.out.Write(part)
	}
}

// flushSoon flushes what has been written: now, or once it has waited for more.
func (a *answer) flushSoon(now bool) error {
	if now {
		return a.flush()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.soon == nil {
		a.soon = time.AfterFunc(flushAfter, func() { _ = a.flush() })
	} else if a.out.Buffered() > 0 {
		a.soon.Reset(flushAfter)
	}
	return nil
}

// flush also returns the error of an earlier write.
func (a *answer) flush() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out == nil {
		return nil
	}
	return a.out.Flush()
}

// refuse answers with an error in the contract's form (contract, Errors).
func (a *answer) refuse(status int, name, message string) bool {
	body, err := json.Marshal(map[string]string{"name": name, "message": "tillwatch proxy: " + message})
	if err != nil {
		return false
	}
	body = append(body, '\n')
	a.begin(strconv.Itoa(status)+" "+http.StatusText(status), http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(body))},
	})
	if !a.head {
		a.write(body)
	}
	return a.flush() == nil
}
