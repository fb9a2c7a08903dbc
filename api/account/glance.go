package account

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"tillwatch/api"
)

// A glance is the part of a picture that a screen draws before anyone opens a row or scrolls: every intent and
// shipment without its history, and the newest events. It leads the file, so that the first frame need not wait
// for the rest. A picture of more than mostGlanced rows has none: reading it would take as long.
const (
	mostGlanced  = 2000
	glanceEvents = 100 // more than a screen shows
)

// putGlance writes the glance as a frame of its own.
func (v *saving) putGlance(head *Frame, intents []*IntentDetail, shipments []*Shipment, events []*Event) error {
	if len(intents)+len(shipments) > mostGlanced {
		return nil
	}
	first, memory := *head, *head.Memory
	memory.Answers = nil // the first screen does not show them
	first.Glance, first.Memory = true, &memory
	v.put(&first)
	for batch := range slices.Chunk(intents, mostItems) {
		f := Frame{Glance: true, More: true, Memory: &Memory{Intents: map[api.ID]intentMemory{}}}
		for _, in := range batch {
			f.Intents = append(f.Intents, &IntentDetail{Intent: keepIntent(in).Intent})
			f.Memory.Intents[in.ID] = intentMemory{Known: instantOf(in.basis.known)} // for the day's count
		}
		v.put(&f)
	}
	for batch := range slices.Chunk(shipments, mostItems) {
		f := Frame{Glance: true, More: true}
		for _, sh := range batch {
			f.Shipments = append(f.Shipments, keepShipment(sh))
		}
		v.put(&f)
	}
	v.put(&Frame{Glance: true, Events: events[max(0, len(events)-glanceEvents):]})
	return errors.Join(v.err, v.out.EndPart())
}

// Glance returns what a screen shows first of the newest saved picture, until [Saved.Restore] has filled s. It
// reports false if there is no glance.
func (f *Saved) Glance(s *Store) (Changes, bool) {
	lines := f.readGlance()
	if len(lines) == 0 {
		return Changes{}, false
	}
	cfg := s.cfg
	cfg.Quota = nil // the buckets are those of the file
	few := NewStore(cfg)
	known := few.restore(lines)
	c := few.Changes(0)
	c.Version = 0 // what s holds is newer
	c.Summary.Quota, c.Summary.Limits, c.Summary.Spenders = known.Buckets, known.Limits, known.Spenders
	return c, true
}

// readGlance reads the glance; nothing if the file is damaged.
func (f *Saved) readGlance() []*Frame {
	file, err := os.Open(f.path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	var lines [][]byte
	err = eachLine(file, info.Size(), func(i int, line []byte) error {
		switch {
		case i == 0:
			return checkHeader(line)
		case !bytes.Contains(line[:min(len(line), 100)], []byte(`"glance":true`)): // it is among the first fields
			return io.EOF
		}
		lines = append(lines, bytes.Clone(line))
		return nil
	})
	if !errors.Is(err, io.EOF) { // no picture follows
		return nil
	}
	frames, err := readFrames(lines)
	if err != nil || len(frames) == 0 || !frames[0].Whole || !frames[0].Glance {
		return nil
	}
	return frames
}
