package recording

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"time"

	"github.com/tidwall/gjson"
)

// A line is eight hexadecimal digits of the checksum of what follows, a blank,
// one JSON object and a line feed.
const prefix = len("00000000 ")

// longestLine bounds a line that is read. Those that are written are far
// shorter: what is more goes on in the next.
const longestLine = 8 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendLine(out, object []byte) []byte {
	sum := crc32.Checksum(object, castagnoli)
	out = hex.AppendEncode(out, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	out = append(out, ' ')
	out = append(out, object...)
	return append(out, '\n')
}

var (
	errNoRecording = errors.New("it is not a recording: --record makes one")
	errDamaged     = errors.New("a line is damaged")
)

// openLine checks a line, given without its line feed, and returns its object.
func openLine(line []byte) ([]byte, error) {
	if len(line) < prefix || line[prefix-1] != ' ' {
		return nil, errDamaged
	}
	var sum [4]byte
	if _, err := hex.Decode(sum[:], line[:prefix-1]); err != nil {
		return nil, errDamaged
	}
	object := line[prefix:]
	want := uint32(sum[0])<<24 | uint32(sum[1])<<16 | uint32(sum[2])<<8 | uint32(sum[3])
	if crc32.Checksum(object, castagnoli) != want {
		return nil, errDamaged
	}
	return object, nil
}

// lineForm is a line after the first. Several lines with the same moment and More
// in all but the last tell of one change.
type lineForm struct {
	At        int64             `json:"at"` // milliseconds since the beginning
	Marks     []Kind            `json:"marks,omitempty"`
	Picture   bool              `json:"picture,omitempty"` // the whole picture begins here
	More      bool              `json:"more,omitempty"`    // the next line belongs to it
	End       string            `json:"end,omitempty"`     // why nothing follows
	Skipped   int               `json:"skipped,omitempty"` // events that came faster than they could be kept
	LeftOut   int               `json:"leftOut,omitempty"` // what was too large to be recorded
	Intents   []json.RawMessage `json:"intents,omitempty"`
	Again     []againForm       `json:"again,omitempty"` // intents of which a read told nothing new
	Shipments []json.RawMessage `json:"shipments,omitempty"`
	Events    []json.RawMessage `json:"events,omitempty"`
	Requests  []json.RawMessage `json:"requests,omitempty"`
	Summary   json.RawMessage   `json:"summary,omitempty"` // what changed of it
}

// Kind is what a mark on the time line is about.
type Kind string

// The kinds of marks, the most pressing last.
const (
	MarkEnd    Kind = "end"    // of a part of the recording that is damaged
	MarkAlert  Kind = "alert"  // an alert was raised
	MarkRelay  Kind = "relay"  // the relay was lost or refused
	MarkGap    Kind = "gap"    // something could not be told
	MarkFailed Kind = "failed" // an intent failed
)

// Rank orders kinds by how pressing they are; a kind that is not known ranks -1.
func (k Kind) Rank() int {
	for i, known := range [...]Kind{MarkEnd, MarkAlert, MarkRelay, MarkGap, MarkFailed} {
		if k == known {
			return i
		}
	}
	return -1
}

// Mark is a moment at which something happened that a person may look for.
type Mark struct {
	At   time.Duration // since the beginning
	Kind Kind
}

// glance is what the index keeps of a line, read without decoding all of it.
type glance struct {
	at            time.Duration
	marks         []Kind
	picture, more bool
	end           string
}

// longest time that a line may claim: more is no recording
const longestTime = 100 * 365 * 24 * time.Hour

func glanceAt(object []byte) (glance, error) {
	if !json.Valid(object) {
		return glance{}, errDamaged
	}
	var g glance
	found := gjson.GetManyBytes(object, "at", "marks", "picture", "more", "end")
	at := found[0]
	if at.Type != gjson.Number || at.Num < 0 || at.Num > float64(longestTime/time.Millisecond) {
		return glance{}, errDamaged
	}
	g.at = time.Duration(at.Int()) * time.Millisecond
	for _, m := range found[1].Array() {
		if kind := Kind(m.Str); kind.Rank() >= 0 {
			g.marks = append(g.marks, kind)
		}
	}
	g.picture, g.more, g.end = found[2].Bool(), found[3].Bool(), found[4].Str
	return g, nil
}
