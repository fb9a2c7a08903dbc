package relay

import (
	"context"
	"errors"

	"tillwatch/relay/journal"
)

const (
	replayBatch = 500 // records per read of the journal

	// largeFrames is how much a connection may hold of events, in bytes, without a share of the memory.
	largeFrames = encodedTimes * journal.ReadBytes
	// encodedTimes is how much larger events are than their bodies, as text and once more in a frame.
	encodedTimes = 3
	// frameMemorySize bounds the memory, in bytes, of larger ones for all connections.
	frameMemorySize = 64 << 20
)

var (
	errBehind = errors.New("the journal has pruned the events after the cursor")
	errNoRoom = errors.New("others that are behind hold the memory for large events")
	errOusted = errors.New("stalled: others needed the memory of what it did not take")
)

// catchUp sends some events that the newest addition to the ring does not have ready. Large ones take a share of the
// memory until the subscriber has taken them.
func (c *connection) catchUp(ctx context.Context) error {
	share := c.hub.frames.share(func() { _ = c.socket.Close() })
	defer share.leave()
	events, err := c.following(ctx, share)
	if err == nil {
		err = c.sendEvents(events)
	}
	if share.settle() != nil {
		return errOusted
	}
	return err
}

// following reads the events after the cursor, from the ring or, if they are older, from the journal.
func (c *connection) following(ctx context.Context, share *bodyShare) ([]encoded, error) {
	events, held := c.ring.after(c.cursor.Load(), frameBytes)
	if held {
		size := 0
		for _, event := range events {
			size += len(event.text)
		}
		return events, c.hold(ctx, share, size)
	}
	records, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, record := range records {
		size += len(record.Body)
	}
	if size *= encodedTimes; size > largeFrames { // it waits without them
		records = nil
		if err := c.hold(ctx, share, size); err != nil {
			return nil, err
		}
		if records, err = c.read(ctx); err != nil {
			return nil, err
		}
	}
	return encodeAll(records)
}

// read reads the events after the cursor from the journal.
func (c *connection) read(ctx context.Context) ([]journal.Record, error) {
	records, err := c.journal.Read(ctx, c.cursor.Load(), replayBatch)
	if err != nil {
		return nil, c.part("journal", err)
	}
	if len(records) == 0 || records[0].Seq != c.cursor.Load()+1 {
		return nil, c.part("gap", errBehind)
	}
	return records, nil
}

// hold takes a share of the memory for events of size bytes, if they are large.
func (c *connection) hold(ctx context.Context, share *bodyShare, size int) error {
	if size <= largeFrames {
		return nil
	}
	if err := share.grow(ctx, size); err != nil {
		return c.part("crowded", errNoRoom)
	}
	return nil
}
