package quota

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// Bounds of the answers that are examined, and of what is kept of them.
const (
	maxIntent    = 64 << 10 // bytes of an answer, as sent and as unpacked
	maxIntentID  = 255      // bytes
	maxState     = 64       // bytes
	maxReference = 4 * 255  // bytes: 255 characters
	goodStates   = "abcdefghijklmnopqrstuvwxyz_"
)

// observedBody passes on an answer's body, and reports it once it is closed, so that whoever waits for the answer has it
// by then. It copies small answers that show an intent.
type observedBody struct {
	io.ReadCloser
	transport *Transport
	request   *http.Request
	encoding  string // of what is copied

	mu      sync.Mutex // a body may be closed while it is read
	copying bool
	copied  []byte
	seen    Observation
	ended   bool // there is nothing left to read
	closed  bool
}

// Read passes the bytes on before it looks at them.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.copy(p[:n])
	if err != nil {
		b.end()
	}
	return n, err
}

// Close reports the answer once, even if it was not read to its end, and drops the copy. A copy that broke off is not
// valid JSON.
func (b *observedBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return err
	}
	b.closed = true
	b.end()
	if b.copying {
		b.seen.readIntent(unpacked(b.copied, b.encoding))
	}
	b.copying, b.copied = false, nil
	b.transport.report(b.request, b.seen)
	return err
}

func (b *observedBody) copy(part []byte) {
	if b.copying && len(b.copied)+len(part) <= maxIntent {
		b.copied = append(b.copied, part...)
		return
	}
	b.copying, b.copied = false, nil
}

// end notes how long the answer took.
func (b *observedBody) end() {
	if !b.ended {
		b.ended, b.seen.Latency = true, time.Since(b.seen.Sent)
	}
}

// unpacked returns a small body uncompressed; nil if it is large or its encoding unknown.
func unpacked(body []byte, encoding string) []byte {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return body
	case "gzip":
		unpacking, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil
		}
		body, err = io.ReadAll(io.LimitReader(unpacking, maxIntent+1))
		if err == nil && len(body) <= maxIntent {
			return body
		}
	}
	return nil
}

// readIntent takes from an answer its intent's id, state and reference, and nothing else. It ignores answers that
// do not look like the contract's intent.
func (o *Observation) readIntent(body []byte) {
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // RFC 8259, 8.1
	if !gjson.ValidBytes(body) {
		return
	}
	intent := gjson.GetManyBytes(body, "id", "state", "referenceId")
	id, state, reference := intent[0], intent[1], intent[2]
	if id.Type != gjson.String || id.Str == "" || len(id.Str) > maxIntentID || printable(id.Str) != id.Str ||
		state.Type != gjson.String || len(state.Str) > maxState || strings.Trim(state.Str, goodStates) != "" {
		return
	}
	o.IntentID, o.State = strings.Clone(id.Str), strings.Clone(state.Str)
	if reference.Type == gjson.String && len(reference.Str) <= maxReference {
		o.Reference = strings.Clone(reference.Str)
	}
}
