package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// answer writes the answer to one request. While it waits for the service, several goroutines use it.
type answer struct {
	proxy *Proxy
	head  bool               // the request was a HEAD
	old   bool               // it was of HTTP/1.0
	sent  bool               // the request may have been sent: there is a connection to the service
	last  bool               // nothing follows on the connection
	body  *clientBody        // of the request; nil: it was refused
	from  *serviceConnection // whose answer it is, until its body has ended; nil: the connection is net/http's

	mu    sync.Mutex
	out   *bufio.Writer // nil once the answer has ended
	begun bool          // its header has been written
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
	_ = a.out.Flush() // a client that is gone needs no answer
	a.out.Reset(nil)
	a.proxy.writers.Put(a.out)
	a.out = nil
}

// trace follows the request. net/http looks for another connection only if it wrote nothing over the one it had.
func (a *answer) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { a.sent = false },
		GotConn: func(got httptrace.GotConnInfo) {
			a.sent = true
			a.from, _ = got.Conn.(*serviceConnection)
		},
		Got1xxResponse: a.interim,
	}
}

// proceed asks the client for the body of its request.
func (a *answer) proceed() { a.preface(http.StatusContinue, nil) }

// interim passes on what precedes an answer. Whether the body is wanted is said once it is read.
func (a *answer) interim(status int, header textproto.MIMEHeader) error {
	if status != http.StatusContinue {
		removeHopByHop(http.Header(header))
		header.Del("Content-Length") // it has no body (RFC 9110, section 8.6)
		a.preface(status, http.Header(header))
	}
	return nil
}

// preface writes an interim answer (RFC 9110, section 15.2), which HTTP/1.0 does not know.
func (a *answer) preface(status int, header http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out == nil || a.begun || a.old {
		return
	}
	a.writeHeader(usual(status), header)
	_ = a.out.Flush() // as for all that is written here, a failure shows when the answer is flushed
}

// begin writes the header of the answer.
func (a *answer) begin(status string, header http.Header) {
	if a.last = a.last || a.proxy.clients.leaving() || a.body != nil && a.body.inDoubt(); a.last {
		header["Connection"] = []string{"close"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = true
	a.writeHeader(status, header)
}

func (a *answer) writeHeader(status string, header http.Header) {
	_, _ = a.out.WriteString("HTTP/1.1 " + status + "\r\n")
	_ = header.Write(a.out)
	_, _ = a.out.WriteString("\r\n")
}

// usual returns a status with its usual reason.
func usual(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }

// pass writes the service's answer. It returns an error if the service or the client has broken off.
func (a *answer) pass(from *http.Response) error {
	empty := a.head || from.StatusCode == http.StatusNoContent || from.StatusCode == http.StatusNotModified
	unknown := from.ContentLength < 0 && !empty
	removeHopByHop(from.Header)
	switch {
	case unknown && a.old:
		a.last = true
	case unknown || a.head && !a.old && len(from.TransferEncoding) > 0:
		from.Header["Transfer-Encoding"] = []string{"chunked"}
	case from.StatusCode == http.StatusNoContent:
		delete(from.Header, "Content-Length") // RFC 9110, section 8.6
	case !empty: // the service may have said that it concerns one connection only
		from.Header["Content-Length"] = []string{strconv.FormatInt(from.ContentLength, 10)}
	}
	if len(from.Trailer) > 0 {
		from.Header["Trailer"] = []string{strings.Join(slices.Sorted(maps.Keys(from.Trailer)), ", ")}
	}
	if _, reason, _ := strings.Cut(from.Status, " "); reason == "" || !httpguts.ValidHeaderFieldValue(reason) {
		from.Status = usual(from.StatusCode)
	}
	a.begin(from.Status, from.Header)
	if empty || from.Body == http.NoBody { // another request may use its connection already
		return a.flush()
	}
	if err := a.copy(from, unknown); err != nil {
		return err
	}
	if unknown && !a.old {
		tail := bytes.NewBufferString("0\r\n")
		_ = from.Trailer.Write(tail) // a buffer takes everything
		_ = a.write(tail.Bytes(), []byte("\r\n"))
	}
	return a.flush()
}

// copy writes the body of an answer. Each part of unknown length becomes a chunk.
func (a *answer) copy(from *http.Response, unknown bool) error {
	buffer := a.proxy.buffers.Get().(*[bufferSize]byte)
	defer a.proxy.buffers.Put(buffer)
	for {
		if unknown || !a.more() {
			if err := a.flush(); err != nil {
				return err
			}
		}
		n, err := from.Body.Read(buffer[:])
		switch {
		case n > 0 && unknown && !a.old:
			err = cmp.Or(a.write([]byte(strconv.FormatInt(int64(n), 16)+"\r\n"), buffer[:n], []byte("\r\n")), err)
		case n > 0:
			err = cmp.Or(a.write(buffer[:n]), err)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (a *answer) write(parts ...[]byte) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, part := range parts {
		_, err = a.out.Write(part) // an error stays
	}
	return err
}

// more reports whether more of an answer has come, which goes out together with what has been written. Of an answer
// that comes over a connection of net/http, nobody knows.
func (a *answer) more() bool { return a.from != nil && a.from.in.Buffered() > 0 }

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
	body, err := json.Marshal(map[string]string{"name": name, "message": saidBy + message})
	if err != nil {
		return false
	}
	body = append(body, '\n')
	a.begin(usual(status), http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Content-Length": {strconv.Itoa(len(body))},
	})
	if !a.head {
		_ = a.write(body)
	}
	return a.flush() == nil
}
