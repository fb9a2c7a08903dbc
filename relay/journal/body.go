package journal

import (
	"bytes"
	"encoding/json"
)

// sameBody reports whether two bodies are equal but for white space between the
// parts of a JSON text, which means nothing (RFC 8259, section 2).
func sameBody(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var plainA, plainB bytes.Buffer
	return json.Compact(&plainA, a) == nil && json.Compact(&plainB, b) == nil && bytes.Equal(plainA.Bytes(), plainB.Bytes())
}
