package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"tillwatch/api"
)

// Version is the version of the format that this program writes and reads.
const Version = 2

// Kind is the kind of content after a header.
type Kind string

// The kinds.
const (
	Picture   Kind = "picture"   // one frame: what a run saves for the next
	Recording Kind = "recording" // a whole picture, then changes and further whole pictures
	Stream    Kind = "stream"    // a whole picture, then changes as they happen
)

// Header is the first line.
type Header struct {
	Format      string    `json:"format"` // always "tillwatch"
	Version     int       `json:"version"`
	Kind        Kind      `json:"kind"`
	Program     string    `json:"program,omitempty"`     // the version of tillwatch that wrote it
	Began       time.Time `json:"began"`                 // no line is older
	Environment string    `json:"environment,omitempty"` // of the service
	Live        bool      `json:"live,omitempty"`        // the environment uses real money
	Account     string    `json:"account,omitempty"`     // as the screen names it
	Width       int       `json:"width,omitempty"`       // of the recorded screen, in cells; 0 if there was none
	Height      int       `json:"height,omitempty"`      // the same
	Masked      []string  `json:"masked,omitempty"`      // what was omitted or masked, in words
}

const format = "tillwatch"

// The reasons why a file cannot be read, for errors.Is.
var (
	ErrForeign = errors.New("it is not a tillwatch file")
	ErrVersion = errors.New("its format is not supported") // another version of tillwatch wrote it
	ErrDamaged = errors.New("it is damaged")
)

// Begin completes a header with the format, its version and the program's version.
func Begin(h Header) Header {
	h.Format, h.Version, h.Program, h.Began = format, Version, program(), h.Began.UTC()
	return h
}

// program returns the version of the running program, as its build recorded it.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// mostCells bounds the width and height in a header; no screen is larger.
const mostCells = 10_000

// ReadHeader reads the first line and scrubs its texts.
func ReadHeader(line []byte) (Header, error) {
	var h Header
	if earlier(line) {
		return h, fmt.Errorf("%w: an earlier tillwatch made it (format 1), and this one reads format %d: use the one that made it", ErrVersion, Version)
	}
	if json.Unmarshal(line, &h) != nil || h.Format != format {
		return Header{}, ErrForeign
	}
	switch {
	case h.Version > Version:
		return Header{}, fmt.Errorf("%w: a newer tillwatch made it (format %d), and this one reads format %d: update tillwatch", ErrVersion, h.Version, Version)
	case h.Version < Version:
		return Header{}, fmt.Errorf("%w: it claims format %d, and this tillwatch reads format %d", ErrVersion, h.Version, Version)
	case !sound(line) || h.Began.IsZero():
		return Header{}, fmt.Errorf("%w within its first line", ErrDamaged)
	}
	h.Kind, h.Program = Kind(api.Scrub(string(h.Kind))), string(api.Scrub(h.Program))
	h.Environment, h.Account = string(api.Scrub(h.Environment)), string(api.Scrub(h.Account))
	h.Width, h.Height = min(max(h.Width, 0), mostCells), min(max(h.Height, 0), mostCells)
	for i, what := range h.Masked {
		h.Masked[i] = string(api.Scrub(what))
	}
	return h, nil
}

// earlier reports whether a line begins a recording of format 1, in which a checksum
// stood before the object.
func earlier(line []byte) bool {
	const sum = len("00000000 ")
	if len(line) < sum || line[sum-1] != ' ' {
		return false
	}
	var h struct {
		Recording string `json:"recording"`
	}
	return json.Unmarshal(line[sum:], &h) == nil && h.Recording == format
}
