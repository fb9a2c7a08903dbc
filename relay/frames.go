package relay

import (
	"encoding/json"
	"fmt"
	"time"

	"tillwatch/api/quota"
	"tillwatch/relay/journal"
)

// Protocol is the websocket subprotocol of the stream: JSON text frames whose member "t" is their kind. Both sides
// ignore unknown kinds.
const Protocol = "tillwatch.relay.v1"

// The kinds of frames.
const (
	frameHello     = "hello"
	frameWelcome   = "welcome"
	frameEvents    = "ev"
	frameGap       = "gap"
	frameLive      = "live"
	frameHeartbeat = "hb"
	frameBye       = "bye"

	frameObservations = "obs"
	frameWrong        = "sig"
)

// noObservations in a hello asks for no observations.
const noObservations = "none"

// How a welcome answers the cursor of a hello.
const (
	ResumeOK    = "ok"    // the stream continues after the cursor
	ResumeFresh = "fresh" // there was no cursor
	ResumeGap   = "gap"   // the journal no longer has what follows the cursor
	ResumeReset = "reset" // the cursor's event is not in this journal: the stream starts over
)

// Close codes. Those from 4500 on are final: another attempt would end the same way.
const (
	closeHelloLate    = 4008
	closeBadHello     = 4500
	closeUnauthorized = 4501
	closeBadVersion   = 4505
)

// helloFrame is the first frame of a connection, from the subscriber. Last is the id of the event at the cursor.
type helloFrame struct {
	T      string    `json:"t"`
	Cursor *string   `json:"cursor"`
	Last   string    `json:"last,omitempty"`
	From   string    `json:"from,omitempty"`
	Since  time.Time `json:"since,omitzero"` // instead of from, without a cursor: events received at or after this time
	Types  []string  `json:"types,omitempty"`
	Client string    `json:"client,omitempty"`
	Now    time.Time `json:"now,omitzero"` // the subscriber's clock, if since is by it

	Observed string `json:"obs,omitempty"` // "none": no observations
}

// welcomeFrame answers a hello. Heartbeat is in seconds. Start is set if the hello had a time: the stream begins
// after it. Now is the relay's clock.
type welcomeFrame struct {
	T         string    `json:"t"`
	Epoch     string    `json:"epoch"`
	Head      int64     `json:"head"`
	Oldest    int64     `json:"oldest"`
	Resume    string    `json:"resume"`
	Lost      *span     `json:"lost,omitempty"`
	Heartbeat float64   `json:"hb"`
	Start     int64     `json:"start,omitempty"`
	Now       time.Time `json:"now,omitzero"`

	// ObservedSince is when the observations that the relay still has begin, if that is less than an hour ago.
	ObservedSince time.Time `json:"obs_since,omitzero"`
}

// span is an inclusive range of sequence numbers.
type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// wireItem is one event in an "ev" frame and in the answers of the reading side.
type wireItem struct {
	Seq        int64     `json:"seq"`
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	At         time.Time `json:"at,omitzero"`
	Received   time.Time `json:"received,omitzero"`
	Origin     string    `json:"src"`
	Duplicates int       `json:"dups"`
	Conflicts  int       `json:"conflicts,omitempty"`
	Raw        []byte    `json:"raw"`
}

type eventsFrame struct {
	T     string     `json:"t"`
	Items []wireItem `json:"items"`
}

// gapFrame says which events cannot be read any more.
type gapFrame struct {
	T string `json:"t"`
	span
}

// liveFrame has the cursor and the id of its event, which may be one that the filter held back.
type liveFrame struct {
	T      string `json:"t"`
	Cursor string `json:"cursor"`
	Last   string `json:"last,omitempty"`
}

type heartbeatFrame struct {
	T      string    `json:"t"`
	Head   int64     `json:"head"`
	Cursor string    `json:"cursor"`
	Last   string    `json:"last,omitempty"`
	Now    time.Time `json:"now"`
}

type observationsFrame struct {
	T     string              `json:"t"`
	Items []quota.Observation `json:"items"`
}

// wrongFrame reports wrong signatures whenever the report changes.
type wrongFrame struct {
	T string `json:"t"`
	WrongSignatures
}

type byeFrame struct {
	T       string  `json:"t"`
	Reason  string  `json:"reason"`
	RetryMS []int64 `json:"retry_ms"`
}

func itemOf(r journal.Record) wireItem {
	return wireItem{
		Seq:        r.Seq,
		ID:         r.ID,
		Type:       r.Type,
		At:         r.CreatedAt,
		Received:   r.Received,
		Origin:     string(r.Origin),
		Duplicates: r.Duplicates,
		Conflicts:  r.Conflicts,
		Raw:        r.Body,
	}
}

// encoded is an event encoded for the frames of all connections, or a gap: events that cannot be read any more.
type encoded struct {
	from, seq int64 // the same, unless it is a gap
	gap       bool
	id, kind  string
	text      []byte
}

// encodeAll encodes the records that follow a sequence number. Where one is missing or damaged, there is a gap.
func encodeAll(after int64, records []journal.Record) ([]encoded, error) {
	var all []encoded
	for _, record := range records {
		lost := record.Seq - 1
		if record.Damaged {
			lost = record.Seq
		}
		if last := len(all) - 1; lost > after && last >= 0 && all[last].gap {
			all[last].seq = lost
		} else if lost > after {
			all = append(all, encoded{from: after + 1, seq: lost, gap: true})
		}
		if after = record.Seq; record.Damaged {
			continue
		}
		text, err := json.Marshal(itemOf(record))
		if err != nil {
			return nil, fmt.Errorf("encode event %d: %w", record.Seq, err)
		}
		all = append(all, encoded{from: record.Seq, seq: record.Seq, id: record.ID, kind: record.Type, text: text})
	}
	return all, nil
}
