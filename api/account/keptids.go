package account

import (
	"encoding/binary"
	"strings"

	"tillwatch/api"
)

// keptIDs keeps events' ids that do not repeat, in pages of slots of one size
// without a pointer, each under a number from 1. Of an id that ends in hexadecimal
// digits, as most do, two of them are a byte. An id that is given up leaves its
// slot to the next of its length.
type keptIDs struct {
	pages []idPage
	free  map[int]uint32 // the first free slot of a size, which names the next
	room  []byte         // in which an id is put into its form
}

type idPage struct {
	slots []byte
	size  int // of a slot
}

const (
	idsPerPage     = 1 << idPageBits
	longIDsPerPage = 16 // of ids that are rare
	idPageBits     = 8
	exactSize      = 32 // up to it each length has slots of its own, beyond it so many share theirs
	longSize       = 96
)

// The first byte of an id's form: of one that is "evt_" and digits it is how many
// they are.
const (
	formMixed = 0   // what follows is of any form
	formOwned = 255 // its owner's number, and then what it has behind "evt_", the owner's id and "_"
	mostPlain = 254
)

func newKeptIDs() keptIDs { return keptIDs{free: map[int]uint32{}} }

// keep returns the number of an id; 0 for none, and once there are too many.
func (k *keptIDs) keep(id api.ID) uint32 {
	if id == "" || len(id) > api.MaxID {
		return 0
	}
	k.room = appendID(k.room[:0], string(id))
	return k.put()
}

// keepOwned is keep for "evt_", the id of an owner with this number, "_", and a
// suffix.
func (k *keptIDs) keepOwned(owner uint32, suffix string) uint32 {
	k.room = appendID(binary.AppendUvarint(append(k.room[:0], formOwned), uint64(owner)), suffix)
	return k.put()
}

func (k *keptIDs) put() uint32 {
	size := slotSize(len(k.room))
	number := k.free[size]
	if number == 0 {
		if number = k.addPage(size); number == 0 {
			return 0
		}
	}
	slot := k.slot(number)
	k.free[size] = binary.NativeEndian.Uint32(slot)
	copy(slot, k.room)
	return number
}

// addPage makes free slots of a size and returns the first; 0 once numbers would
// not fit a moment.
func (k *keptIDs) addPage(size int) uint32 {
	first, count := uint32(len(k.pages))<<idPageBits+1, uint32(idsPerPage)
	if size > longSize {
		count = longIDsPerPage
	}
	if first+count > mostWhat {
		return 0
	}
	page := idPage{slots: make([]byte, int(count)*size), size: size}
	for i := range count - 1 {
		binary.NativeEndian.PutUint32(page.slots[int(i)*size:], first+i+1)
	}
	k.pages = append(k.pages, page)
	return first
}

// slotSize is that of a slot for so many bytes, or for the number of a free one.
func slotSize(length int) int {
	if length > exactSize {
		return (length + exactSize - 1) / exactSize * exactSize
	}
	return max(length, 4)
}

func (k *keptIDs) slot(number uint32) []byte {
	page := &k.pages[(number-1)>>idPageBits]
	at := int((number-1)&(idsPerPage-1)) * page.size
	return page.slots[at : at+page.size]
}

// giveUp frees the slot of a number that is not used again until it is given out.
func (k *keptIDs) giveUp(number uint32) {
	if number == 0 {
		return
	}
	slot := k.slot(number)
	binary.NativeEndian.PutUint32(slot, k.free[len(slot)])
	k.free[len(slot)] = number
}

// id is the id of a number, or of one that is owned the suffix and the owner's
// number; "" of 0.
func (k *keptIDs) id(number uint32) (id string, owner uint32, owned bool) {
	if number == 0 {
		return "", 0, false
	}
	slot := k.slot(number)
	if slot[0] != formOwned {
		return idFrom(slot), 0, false
	}
	of, n := binary.Uvarint(slot[1:])
	return idFrom(slot[1+n:]), uint32(of), true
}

// appendID appends the form of an id.
func appendID(b []byte, id string) []byte {
	rest, prefixed := strings.CutPrefix(id, eventPrefix)
	digits := trailingDigits(rest)
	head, tail := rest[:len(rest)-digits], rest[len(rest)-digits:]
	if prefixed && head == "" && 0 < digits && digits <= mostPlain {
		b = append(b, byte(digits))
	} else {
		form := uint64(digits) << 1
		if prefixed {
			form |= 1
		}
		b = binary.AppendUvarint(binary.AppendUvarint(append(b, formMixed), form), uint64(len(head)))
		b = append(b, head...)
	}
	for i := 0; i < digits; i += 2 {
		pair := digitOf(tail[i])
		if i+1 < digits {
			pair |= digitOf(tail[i+1]) << 4
		}
		b = append(b, pair)
	}
	return b
}

// idFrom is the id of a form.
func idFrom(b []byte) string {
	var length uint64
	form := uint64(b[0])<<1 | 1
	if b = b[1:]; form == formMixed<<1|1 {
		var n, m int
		form, n = binary.Uvarint(b)
		length, m = binary.Uvarint(b[n:])
		b = b[n+m:]
	}
	id := make([]byte, 0, len(eventPrefix)+int(length)+int(form>>1))
	if form&1 != 0 {
		id = append(id, eventPrefix...)
	}
	id = append(id, b[:length]...)
	for i := range int(form >> 1) {
		id = append(id, "0123456789abcdef"[b[int(length)+i/2]>>(4*(i%2))&15])
	}
	return string(id)
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
