package relay

import (
	"encoding/json"
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
	ResumeReset = "reset" // the cursor belongs to another journal, or is ahead of this one: the stream starts over
)

// Close codes. Those from 4500 on are final: another attempt would end the same way.
const (
	closeHelloLate    = 4008
	closeBadHello     = 4500
	closeUnauthorized = 4501
	closeBadVersion   = 4505
)

// helloFrame is the first frame of a connection, from the subscriber.
type helloFrame struct {
	T      string    `json:"t"`
	Cursor *string   `json:"cursor"`
	From   string    `json:"from,omitempty"`
	Since  time.Time `json:"since,omitzero"` // instead of from, without a cursor: events received at or after this time
	Types  []string  `json:"types,omitempty"`
	Client string    `json:"client,omitempty"`
	Now    time.Time `json:"now,omitzero"` // the subscriber's clock, if since is by it

	// Observed is the next of the last frame of observations, "" for all of the last hour, or "none".
	Observed string `json:"obs,omitempty"`
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

type liveFrame struct {
	T      string `json:"t"`
	Cursor string `json:"cursor"`
}

type heartbeatFrame struct {
	T      string    `json:"t"`
	Head   int64     `json:"head"`
	Cursor string    `json:"cursor"`
	Now    time.Time `json:"now"`
}

// observationsFrame holds observations. A later hello with Next resumes after it.
type observationsFrame struct {
	T     string              `json:"t"`
	Next  string              `json:"next"`
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

// frame is any frame from the relay, decoded by a subscriber.
type frame struct {
	T         string     `json:"t"`
	Epoch     string     `json:"epoch"`
	Head      int64      `json:"head"`
	Oldest    int64      `json:"oldest"`
	Resume    string     `json:"resume"`
	Lost      span       `json:"lost"`
	Heartbeat float64    `json:"hb"`
	Start     int64      `json:"start"`
	Now       time.Time  `json:"now"`
	Since     time.Time  `json:"obs_since"`
	Items     []wireItem `json:"items"`
	Cursor    string     `json:"cursor"`
	Reason    string     `json:"reason"`
	RetryMS   []int64    `json:"retry_ms"`

	events       []Item // of Items, decoded
	observations observationsFrame
	wrong        WrongSignatures
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

// encoded is an event encoded for the frames of all connections.
type encoded struct {
	seq  int64
	kind string
	text []byte
}

func encode(r journal.Record) (encoded, error) {
	text, err := json.Marshal(itemOf(r))
	return encoded{seq: r.Seq, kind: r.Type, text: text}, err
}

func encodeAll(records []journal.Record) ([]encoded, error) {
	all := make([]encoded, len(records))
	for i, record := range records {
		var err error
		if all[i], err = encode(record); err != nil {
			return nil, err
		}
	}
	return all, nil
}
