package form

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
)

// A line is one JSON object and a line feed. If the object begins with a field "sum",
// that is the CRC-32C, in hexadecimal, of the rest of the line.
const (
	sumBegin  = `{"sum":"`
	sumEnd    = `",`
	sumPrefix = len(sumBegin) + crc32.Size*2 + len(sumEnd)
)

// LongestLine is the most bytes of a line that readers accept. Written lines are far
// shorter: a frame continues on the next line.
const LongestLine = 8 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrLongLine says that a line would be longer than [LongestLine].
var ErrLongLine = errors.New("the line is too long")

// AppendLine appends a line with v, which must encode as a JSON object with at least
// one field. After an error it returns out unchanged.
func AppendLine(out []byte, v any) ([]byte, error) {
	// The object is encoded in its place: its brace becomes the comma behind the sum.
	buffer := bytes.NewBuffer(append(out, sumBegin+"00000000\""...))
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return out, err
	}
	line := buffer.Bytes()[len(out):]
	if len(line) >= LongestLine {
		return out, ErrLongLine
	}
	line[sumPrefix-1] = ','
	sum := crc32.Checksum(line[sumPrefix:len(line)-1], castagnoli)
	hex.Encode(line[len(sumBegin):], binary.BigEndian.AppendUint32(nil, sum))
	return buffer.Bytes(), nil
}

// sound reports whether a line, without its line feed, matches its checksum. A line
// without a checksum is sound.
func sound(line []byte) bool {
	if !bytes.HasPrefix(line, []byte(sumBegin)) {
		return true
	}
	if len(line) < sumPrefix {
		return false
	}
	var sum [crc32.Size]byte
	if _, err := hex.Decode(sum[:], line[len(sumBegin):len(sumBegin)+2*crc32.Size]); err != nil {
		return false
	}
	return crc32.Checksum(line[sumPrefix:], castagnoli) == binary.BigEndian.Uint32(sum[:])
}
