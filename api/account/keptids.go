package account

import (
	"encoding/binary"
	"strings"

	"tillwatch/api"
)

// keptIDs keeps events' ids that do not repeat, one after another in bytes without
// a pointer, each under a number from 1. Of an id that ends in hexadecimal digits,
// as most do, two of them are a byte.
type keptIDs struct {
	rooms  [][]byte
	places blocks[idPlace]
}

// idPlace is where an id stands: its room, and in the lowest bits where in it.
type idPlace uint32

const (
	idRoomBits = 15 // of the size of a room
	idsPerPage = 1024
)

func newKeptIDs() keptIDs { return keptIDs{places: newBlocks[idPlace](idsPerPage)} }

// keep returns the number of an id; 0 for none.
func (k *keptIDs) keep(id api.ID) uint32 {
	if id == "" || len(id) > api.MaxID {
		return 0
	}
	rest, prefixed := strings.CutPrefix(string(id), eventPrefix)
	digits := trailingDigits(rest)
	head, tail := rest[:len(rest)-digits], rest[len(rest)-digits:]
	last := len(k.rooms) - 1
	if last < 0 || cap(k.rooms[last])-len(k.rooms[last]) < 2*binary.MaxVarintLen16+len(rest) {
		k.rooms = append(k.rooms, make([]byte, 0, 1<<idRoomBits))
		last++
	}
	b := k.rooms[last]
	number, place := k.places.add()
	*place = idPlace(last<<idRoomBits | len(b))
	form := uint64(digits) << 1
	if prefixed {
		form |= 1
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, form), uint64(len(head)))
	b = append(b, head...)
	for i := 0; i < digits; i += 2 {
		pair := digitOf(tail[i])
		if i+1 < digits {
			pair |= digitOf(tail[i+1]) << 4
		}
		b = append(b, pair)
	}
	k.rooms[last] = b
	return number
}

// id is the id of a number; "" of 0.
func (k *keptIDs) id(number uint32) api.ID {
	if number == 0 {
		return ""
	}
	place := *k.places.at(number)
	b := k.rooms[place>>idRoomBits][place&(1<<idRoomBits-1):]
	form, n := binary.Uvarint(b)
	length, m := binary.Uvarint(b[n:])
	b = b[n+m:]
	id := make([]byte, 0, len(eventPrefix)+int(length)+int(form>>1))
	if form&1 != 0 {
		id = append(id, eventPrefix...)
	}
	id = append(id, b[:length]...)
	for i := range int(form >> 1) {
		id = append(id, "0123456789abcdef"[b[int(length)+i/2]>>(4*(i%2))&15])
	}
	return api.ScrubID(string(id))
}

// trailingDigits is how many hexadecimal digits, in lower case, an id ends in.
func trailingDigits(id string) int {
	n := 0
	for n < len(id) {
		if c := id[len(id)-1-n]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			break
		}
		n++
	}
	return n
}

func digitOf(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
