package account

import (
	"encoding/binary"
	"time"

	"tillwatch/api"
)

// A read that is kept for long is packed into one piece of memory: what
// [savedRead] lists of it, numbers as varints and texts behind their lengths, and
// first what a list shows.

func packRead(read *savedRead) string {
	p := packer(make([]byte, 0, 512))
	p.uint(uint64(read.Quantity))
	p.text(read.ReferenceID)
	p.text(read.FailureCode)
	p.text(read.Failure)
	p.text(read.State)
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
	p.text(read.PaymentType)
	p.texts(read.OrderIDs)
	return string(p)
}

// packer appends to its bytes.
type packer []byte

func (p *packer) uint(n uint64) { *p = binary.AppendUvarint(*p, n) }
func (p *packer) int(n int64)   { *p = binary.AppendVarint(*p, n) }
func (p *packer) text(t string) { p.uint(uint64(len(t))); *p = append(*p, t...) }
func (p *packer) flag(b bool) bool {
	if b {
		*p = append(*p, 1)
	} else {
		*p = append(*p, 0)
	}
	return b
}

func (p *packer) texts(list []string) {
	p.uint(uint64(len(list)))
	for _, t := range list {
		p.text(t)
	}
}

func (p *packer) money(m *savedMoney) {
	if p.flag(m != nil) {
		p.text(m.Currency)
		p.int(m.Subunits)
	}
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
	u := unpacker(packed)
	read := savedRead{Quantity: int(u.uint()), ReferenceID: u.text(), FailureCode: u.text(), Failure: u.text()}
	read.State, read.CreatedAt, read.ProductURL = u.text(), instant(u.int()), u.text()
	for range u.uint() {
		read.Variants = append(read.Variants, savedVariant{u.text(), u.text()})
	}
	if u.flag() {
		read.Limits = &savedLimits{u.int(), u.int()}
	}
	read.Offer = u.offer()
	read.PaymentType, read.OrderIDs = u.text(), u.texts()
	return read.intent(id)
}

// packedHead is what a list shows of a packed read.
func packedHead(packed string) (quantity int, reference api.Text, failure *api.FailureReason) {
	u := unpacker(packed)
	quantity, reference = int(u.uint()), api.Scrub(u.text())
	if code, message := api.Scrub(u.text()), api.Scrub(u.text()); code != "" || message != "" {
		failure = &api.FailureReason{Code: api.FailureCode(code), Message: message}
	}
	return quantity, reference, failure
}

// unpacker takes from the front of what [packRead] made. Its texts are parts of
// it.
type unpacker string

func (u *unpacker) uint() uint64 {
	var n uint64
	for shift := 0; len(*u) > 0; shift += 7 {
		b := (*u)[0]
		*u = (*u)[1:]
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
	n := min(u.uint(), uint64(len(*u)))
	t := string((*u)[:n])
	*u = (*u)[n:]
	return t
}

func (u *unpacker) flag() bool { return u.uint() == 1 }

func (u *unpacker) texts() []string {
	var list []string
	for range u.uint() {
		list = append(list, u.text())
	}
	return list
}

func (u *unpacker) money() *savedMoney {
	if !u.flag() {
		return nil
	}
	return &savedMoney{u.text(), u.int()}
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
