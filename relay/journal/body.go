package journal

import (
	"bytes"
	"encoding/json"
)

// SameBody reports whether two bodies of one id say the same: white space between
// the parts of a JSON text means nothing (RFC 8259).
func SameBody(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var plainA, plainB bytes.Buffer
	return json.Compact(&plainA, a) == nil && json.Compact(&plainB, b) == nil && bytes.Equal(plainA.Bytes(), plainB.Bytes())
}
