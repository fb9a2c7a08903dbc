package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"tillwatch/api"
)

// Format is the version of the form that this program writes. It reads this one
// and those before.
const Format = 1

// Header says what a recording is of. It is the file's first line.
type Header struct {
	Format      int
	Program     string // the version that recorded
	Began       time.Time
	Environment string // the service's environment
	Live        bool   // the environment takes real money
	Account     string // as the screen names it
	Width       int    // of the screen that it was recorded beside; 0 when there was none
	Height      int
	Masked      []string // what was left out or made unreadable
}

// Masked lists what no recording holds, in words.
func Masked() []string {
	return []string{
		"keys and tokens", "payment tokens", "buyers but for the country", "mail addresses in texts", "tracking numbers but for their last four",
		"tracking links", "places and descriptions of scans", "the values of URL queries", "fields that the contract does not show",
	}
}

// headerForm is the header as it stands in the file.
type headerForm struct {
	Recording   string   `json:"recording"`
	Format      int      `json:"format"`
	Program     string   `json:"program"`
	Began       instant  `json:"began"`
	Environment string   `json:"environment"`
	Live        bool     `json:"live,omitempty"`
	Account     string   `json:"account,omitempty"`
	Width       int      `json:"width,omitempty"`
	Height      int      `json:"height,omitempty"`
	Masked      []string `json:"masked"`
}

// maker names the program in the header, so that no other file is taken for a
// recording.
const maker = "tillwatch"

func (h *Header) encode() ([]byte, error) {
	return json.Marshal(headerForm{
		Recording: maker, Format: Format, Program: version(), Began: instant(h.Began), Environment: h.Environment, Live: h.Live,
		Account: h.Account, Width: h.Width, Height: h.Height, Masked: Masked(),
	})
}

// version is the version of the running program, as far as its build tells.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// sizes that a header may claim; no screen is larger
const mostCells = 10_000

func decodeHeader(line []byte) (Header, error) {
	var form headerForm
	if err := json.Unmarshal(line, &form); err != nil || form.Recording != maker {
		return Header{}, errNoRecording
	}
	switch {
	case form.Format > Format:
		return Header{}, fmt.Errorf("it was made by a newer tillwatch (format %d, this one reads up to %d): update tillwatch", form.Format, Format)
	case form.Format < 1 || time.Time(form.Began).IsZero():
		return Header{}, errors.New("its first line is damaged: ask for the file again")
	}
	h := Header{
		Format: form.Format, Program: string(api.Scrub(form.Program)), Began: time.Time(form.Began),
		Environment: string(api.Scrub(form.Environment)), Live: form.Live, Account: string(api.Scrub(form.Account)),
		Width: min(max(form.Width, 0), mostCells), Height: min(max(form.Height, 0), mostCells),
	}
	for _, what := range form.Masked {
		h.Masked = append(h.Masked, string(api.Scrub(what)))
	}
	return h, nil
}
