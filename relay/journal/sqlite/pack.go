package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"tillwatch/relay/journal"
)

// packBytes bounds a pack of several events. Reading one event reads its whole pack.
const packBytes = 64 << 10

// sumSize is the size of the checksum at the beginning of a pack.
const sumSize = 4

// pack is a run of events with consecutive numbers in one row of the database: a
// CRC-32C of the rest, then the times, id, type, origin and body of each event, texts
// behind their length. One row for each event would cost ten times as much. The zero
// pack holds no event.
type pack struct {
	first, last int64
	latest      int64 // the latest time of receipt before the first event
	data        []byte
}

// add appends the event with the next number.
func (p *pack) add(e journal.Entry) {
	if len(p.data) == 0 {
		p.data = append(p.data, make([]byte, sumSize)...)
	}
	p.data = binary.AppendVarint(p.data, journal.Nanoseconds(e.CreatedAt))
	p.data = binary.AppendVarint(p.data, journal.Nanoseconds(e.Received))
	p.data = appendText(p.data, e.ID)
	p.data = appendText(p.data, e.Type)
	p.data = appendText(p.data, string(e.Origin))
	p.data = binary.AppendUvarint(p.data, uint64(len(e.Body)))
	p.data = append(p.data, e.Body...)
	p.last++
}

func appendText(data []byte, text string) []byte {
	return append(binary.AppendUvarint(data, uint64(len(text))), text...)
}

// begin empties the pack for events from first on; latest is the latest time of
// receipt before them.
func (p *pack) begin(first, latest int64) {
	p.first, p.last, p.latest, p.data = first, first-1, latest, p.data[:0]
}

func (p *pack) empty() bool { return p.last < p.first }

// takes reports whether e fits into this pack.
func (p *pack) takes(e journal.Entry) bool {
	const overhead = 5 * binary.MaxVarintLen64
	return p.empty() || len(p.data)+len(e.ID)+len(e.Type)+len(e.Origin)+len(e.Body)+overhead <= packBytes
}

// holds reports whether the pack has the event seq.
func (p *pack) holds(seq int64) bool { return p.first <= seq && seq <= p.last }

// seal sets the checksum and returns the data to store.
func (p *pack) seal() []byte {
	binary.LittleEndian.PutUint32(p.data, checksum(p.data[sumSize:]))
	return p.data
}

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// check compares the checksum that seal set.
func (p *pack) check() error {
	if len(p.data) < sumSize || binary.LittleEndian.Uint32(p.data) != checksum(p.data[sumSize:]) {
		return p.damaged()
	}
	return nil
}

func (p *pack) damaged() error {
	return fmt.Errorf("%w: events %d to %d cannot be read", errDamaged, p.first, p.last)
}

// events returns a reader of the pack's events.
func (p *pack) events() unpacking {
	return unpacking{pack: p, seq: p.first - 1, latest: p.latest, rest: p.data[min(sumSize, len(p.data)):]}
}

// without returns the pack of the events from keep on.
func (p *pack) without(keep int64) (kept pack, err error) {
	events := p.events()
	for events.seq < keep-1 && events.next() {
	}
	kept = pack{first: keep, last: p.last, latest: events.latest, data: append(make([]byte, sumSize), events.rest...)}
	return kept, events.err
}

// find returns the event seq, which the pack must hold.
func (p *pack) find(seq int64) (journal.Record, error) {
	events := p.events()
	for events.next() {
		if events.seq == seq {
			return events.record(), nil
		}
	}
	return journal.Record{}, errors.Join(events.err, p.damaged())
}

// unpacking reads the events of a pack one by one. Texts and bodies share the memory
// of the pack.
type unpacking struct {
	pack              *pack
	seq               int64
	rest              []byte // after the event
	created, received int64
	latest            int64 // the latest time of receipt up to this event
	id, kind, origin  []byte
	body              []byte
	err               error
}

// next moves to the next event. It returns false after the last one, and sets err if
// the pack is damaged.
func (u *unpacking) next() bool {
	if u.seq >= u.pack.last || u.err != nil {
		if u.seq == u.pack.last && len(u.rest) > 0 {
			u.err = u.pack.damaged()
		}
		return false
	}
	whole := u.number(&u.created) && u.number(&u.received) &&
		u.text(&u.id) && u.text(&u.kind) && u.text(&u.origin) && u.text(&u.body)
	if !whole {
		u.err = u.pack.damaged()
		return false
	}
	u.seq++
	u.latest = max(u.latest, u.received)
	return true
}

func (u *unpacking) number(into *int64) bool {
	value, n := binary.Varint(u.rest)
	if n <= 0 {
		return false
	}
	*into, u.rest = value, u.rest[n:]
	return true
}

func (u *unpacking) text(into *[]byte) bool {
	length, n := binary.Uvarint(u.rest)
	if n <= 0 || length > uint64(len(u.rest)-n) {
		return false
	}
	end := n + int(length)
	*into, u.rest = u.rest[n:end:end], u.rest[end:]
	return true
}

// record returns the event. Its body shares the memory of the pack.
func (u *unpacking) record() journal.Record {
	return journal.Record{Seq: u.seq, Latest: journal.Instant(u.latest), Entry: journal.Entry{
		ID:        string(u.id),
		Type:      string(u.kind),
		CreatedAt: journal.Instant(u.created),
		Received:  journal.Instant(u.received),
		Origin:    journal.Origin(u.origin),
		Body:      u.body,
	}}
}
