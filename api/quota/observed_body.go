package quota

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Bounds of the answers that are looked into, and of what is taken from them.
const (
	maxIntent    = 64 << 10 // bytes of an answer, as sent and as unpacked
	maxIntentID  = 255      // bytes
	maxState     = 64       // bytes
	maxReference = 4 * 255  // bytes: 255 characters
	goodStates   = "abcdefghijklmnopqrstuvwxyz_"
)

// observedBody passes the body of an answer on and tells when it has ended. Of an
// answer that shows an intent it copies what passes, as long as that is small.
type observedBody struct {
	io.ReadCloser
	ended    func(Observation)
	encoding string // of what is copied

	mu      sync.Mutex // a body may be closed while it is read
	copying bool
	copied  []byte
	seen    Observation
	told    bool
}

// Read passes on what the answer holds before anybody looks at it.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.copy(p[:n])
	if err != nil {
		b.end()
	}
	return n, err
}

// Close ends the answer, also when it was not read to its end.
func (b *observedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

func (b *observedBody) copy(part []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.copying && len(b.copied)+len(part) <= maxIntent {
		b.copied = append(b.copied, part...)
		return
	}
	b.copying, b.copied = false, nil
}

// end tells of the answer once. What was copied is forgotten here; what broke off is
// no JSON.
func (b *observedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told {
		return
	}
	b.told = true
	if b.copying {
		b.seen.readIntent(unpacked(b.copied, b.encoding))
	}
	b.copying, b.copied = false, nil
	b.ended(b.seen)
}

// unpacked is a small body as it was before it was packed; nil where it was packed
// in a way that is not known, or is large.
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

// readIntent takes which intent an answer shows and in which state, and nothing
// else of it. An answer that does not look like an intent of the contract tells
// nothing.
func (o *Observation) readIntent(body []byte) {
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
