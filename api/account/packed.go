package account

import (
	"encoding/binary"
	"slices"
	"time"

	"tillwatch/api"
)

// A read that is kept for long is packed into one piece of memory: what
// [savedRead] lists of it, numbers as varints and texts behind their lengths, and
// first what a list shows.

func packRead(read *savedRead) string {
	p := packer{bytes: make([]byte, 0, 512)}
	p.uint(uint64(read.Quantity))
	p.text(read.ReferenceID)
	p.text(read.FailureCode)
	p.text(read.Failure)
	p.word(read.State)
	p.int(int64(read.CreatedAt))
	p.text(read.ProductURL)
	p.uint(uint64(len(read.Variants)))
	for _, v := range read.Variants {
		p.text(v.Label)
		p.text(v.Value)
	}
	if p.flag(read.Limits != nil) {
		p.int(read.Limits.Total)
		p.int(read.Limits.Shipping)
	}
	p.offer(read.Offer)
	p.word(read.PaymentType)
	p.texts(read.OrderIDs)
	return string(p.bytes)
}

// packer appends to its bytes.
type packer struct {
	bytes    []byte
	currency string // of the amount before
}

func (p *packer) uint(n uint64) { p.bytes = binary.AppendUvarint(p.bytes, n) }
func (p *packer) int(n int64)   { p.bytes = binary.AppendVarint(p.bytes, n) }

func (p *packer) text(t string) {
	p.uint(uint64(len(t)))
	p.bytes = append(p.bytes, t...)
}

func (p *packer) flag(b bool) bool {
	if b {
		p.bytes = append(p.bytes, 1)
	} else {
		p.bytes = append(p.bytes, 0)
	}
	return b
}

// word packs one of a few texts as its number, any other as it is.
func (p *packer) word(t string) {
	i := slices.Index(packedWords[:], t)
	p.uint(uint64(i + 1))
	if i < 0 {
		p.text(t)
	}
}

// packedWords are the texts that most reads hold.
var packedWords = [...]string{
	"", string(api.RetrievingOffer), string(api.AwaitingConfirmation), string(api.PlacingOrder), string(api.Completed), string(api.Failed),
	string(api.VaultToken), string(api.Drawdown),
}

func (p *packer) texts(list []string) {
	p.uint(uint64(len(list)))
	for _, t := range list {
		p.text(t)
	}
}

func (p *packer) money(m *savedMoney) {
	switch {
	case m == nil:
		p.uint(packedNone)
		return
	case m.Currency == p.currency:
		p.uint(packedSame)
	default:
		p.uint(packedOther)
		p.text(m.Currency)
		p.currency = m.Currency
	}
	p.int(m.Subunits)
}

func (p *packer) offer(o *savedOffer) {
	if !p.flag(o != nil) {
		return
	}
	p.text(o.ProductTitle)
	for _, m := range []*savedMoney{o.Subtotal, o.Shipping, o.Tax, o.Discount, o.Surcharge, o.Total} {
		p.money(m)
	}
	if p.flag(o.Selected != nil) {
		p.text(o.Selected.ID)
		p.money(o.Selected.Cost)
		p.money(o.Selected.Discount)
		p.day(o.Selected.Earliest)
		p.day(o.Selected.Latest)
	}
	p.texts(o.PromoCodes)
}

// Before an amount stands whether there is one, and whether its currency is that
// of the amount before it.
const (
	packedNone = iota
	packedSame
	packedOther
)

// day packs a moment that is mostly a full second.
func (p *packer) day(i instant) {
	if p.flag(int64(i)%int64(time.Second) == 0) {
		p.int(int64(i) / int64(time.Second))
	} else {
		p.int(int64(i))
	}
}

// unpackRead makes a read of what was packed, as far as it was kept.
func unpackRead(packed string, id api.ID) *api.Intent {
	u := unpacker{rest: packed}
	read := savedRead{Quantity: int(u.uint()), ReferenceID: u.text(), FailureCode: u.text(), Failure: u.text()}
	read.State, read.CreatedAt, read.ProductURL = u.word(), instant(u.int()), u.text()
	for range u.count() {
		read.Variants = append(read.Variants, savedVariant{u.text(), u.text()})
	}
	if u.flag() {
		read.Limits = &savedLimits{u.int(), u.int()}
	}
	read.Offer = u.offer()
	read.PaymentType, read.OrderIDs = u.word(), u.texts()
	return read.intent(id)
}

// packedHead is what a list shows of a packed read.
func packedHead(packed string) (quantity int, reference api.Text, failure *api.FailureReason) {
	u := unpacker{rest: packed}
	quantity, reference = int(u.uint()), api.Scrub(u.text())
	if code, message := api.Scrub(u.text()), api.Scrub(u.text()); code != "" || message != "" {
		failure = &api.FailureReason{Code: api.FailureCode(code), Message: message}
	}
	return quantity, reference, failure
}

// unpacker takes from the front of what [packRead] made. Its texts are parts of
// it.
type unpacker struct {
	rest     string
	currency string // of the amount before
}

func (u *unpacker) uint() uint64 {
	var n uint64
	for shift := 0; len(u.rest) > 0; shift += 7 {
		b := u.rest[0]
		u.rest = u.rest[1:]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return n
}

func (u *unpacker) int() int64 {
	n := u.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (u *unpacker) text() string {
	n := min(u.uint(), uint64(len(u.rest)))
	t := u.rest[:n]
	u.rest = u.rest[n:]
	return t
}

// count is a number of things of a byte at least.
func (u *unpacker) count() uint64 { return min(u.uint(), uint64(len(u.rest))) }

func (u *unpacker) word() string {
	if i := u.uint(); i > 0 && i <= uint64(len(packedWords)) {
		return packedWords[i-1]
	}
	return u.text()
}

func (u *unpacker) flag() bool { return u.uint() == 1 }

func (u *unpacker) texts() []string {
	var list []string
	for range u.count() {
		list = append(list, u.text())
	}
	return list
}

func (u *unpacker) money() *savedMoney {
	switch u.uint() {
	case packedNone:
		return nil
	case packedOther:
		u.currency = u.text()
	}
	return &savedMoney{u.currency, u.int()}
}

func (u *unpacker) offer() *savedOffer {
	if !u.flag() {
		return nil
	}
	o := &savedOffer{ProductTitle: u.text()}
	for _, m := range []**savedMoney{&o.Subtotal, &o.Shipping, &o.Tax, &o.Discount, &o.Surcharge, &o.Total} {
		*m = u.money()
	}
	if u.flag() {
		o.Selected = &savedOption{ID: u.text(), Cost: u.money(), Discount: u.money(), Earliest: u.day(), Latest: u.day()}
	}
	o.PromoCodes = u.texts()
	return o
}

func (u *unpacker) day() instant {
	if u.flag() {
		return instant(u.int() * int64(time.Second))
	}
	return instant(u.int())
}
