package recording

import (
	"bytes"
	"encoding/json"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// decode reads the lines of a change, which are one frame. It skips unreadable lines:
// the rest of the picture is better than nothing.
func decode(lines []byte) []*account.Frame {
	var frame []*account.Frame
	for line := range bytes.Lines(lines) {
		f, err := account.ReadFrame(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || f.Glance { // a glance is possible in an unpacked file
			continue
		}
		for _, s := range f.Shipments {
			if s.Latest != nil {
				s.Latest.Raw, _ = json.Marshal(s.Latest)
			}
		}
		for _, e := range f.Events {
			e.Raw = bodyOf(e)
		}
		frame = append(frame, f)
	}
	return frame
}

// A recording has no bodies. The screen shows bodies made of the recorded fields.

// withBody returns an intent with a body.
func withBody(in *account.IntentDetail) *account.IntentDetail {
	if in == nil || in.Latest == nil {
		return in
	}
	all, latest := *in, *in.Latest
	latest.Raw, _ = json.Marshal(in.Latest)
	all.Latest = &latest
	return &all
}

// bodyOf returns the body of an event in the contract's form.
func bodyOf(e *account.Event) []byte {
	type source struct {
		Type api.SourceType `json:"type"`
		ID   api.ID         `json:"id"`
	}
	body, _ := json.Marshal(struct {
		ID        api.ID        `json:"id"`
		Object    string        `json:"object"`
		Type      api.EventType `json:"type"`
		CreatedAt time.Time     `json:"createdAt,omitzero"`
		Source    source        `json:"source"`
	}{e.ID, "event", e.Type, e.CreatedAt, source{e.SourceType, e.SourceID}})
	return body
}
