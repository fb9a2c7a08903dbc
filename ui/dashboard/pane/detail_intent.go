package pane

import (
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

func (p *Detail) intent() {
	in := p.facts.Intent
	p.headline(sign.Intent(in.State), string(in.Product), p.look.ageOf(&in.Intent))
	p.confirm()
	p.standing(in)
	p.failure(in)
	p.cost(in)
	p.order(in)
	p.parcels()
	p.timeline(in.Timeline)
	switch {
	case in.Latest == nil:
	case len(in.Latest.Raw) == 0:
		p.heading("RAW")
		p.paragraph(paint.Muted, "not kept here: read the intent to see it")
	default:
		p.raw(in.Latest.Raw)
	}
}

// headline adds the name of the subject, with its state at the right.
func (p *Detail) headline(m sign.Sign, name, age string) {
	if name == "" {
		name = string(p.subject.ID)
	}
	p.add(func(l *paint.Line) {
		right := paint.Width(m.Glyph+" "+m.Word) + 2 + ageWidth
		l.Fit(paint.Text|paint.Bold, name, l.Left()-right-2).Space(1)
		l.Put(m.Style|paint.Bold, m.Glyph+" "+m.Word).Space(2).Right(paint.Muted, age, ageWidth)
	})
	p.blank()
}

// confirm says what became of the intent's newest confirm. While its outcome is unknown, that comes first.
func (p *Detail) confirm() {
	c := p.facts.Confirm
	if c == nil {
		return
	}
	if p.facts.Settled != "" {
		p.add(func(l *paint.Line) {
			l.Put(paint.Unknown, " ? CONFIRM: the outcome is unknown, it may have been bought ")
		})
	} else {
		p.add(func(l *paint.Line) { l.Put(paint.Muted|paint.Bold, "CONFIRM") })
	}
	by := string(c.Run)
	if c.Own {
		by = "this run"
	}
	sent := p.look.stamp(c.Sent)
	if by != "" {
		sent += ", by " + by
	}
	p.fact("sent", paint.Text, sent+", for "+wording.Amount(c.Total))
	if !c.Answered.IsZero() {
		p.fact("answered", paint.Text, p.look.stamp(c.Answered)+", "+string(c.Answer))
	} else if c.Ended.IsZero() {
		p.fact("answered", paint.Text, "not so far")
	}
	if c.Ended.IsZero() || c.Reads > 0 && c.WasUnknown() { // those of earlier runs are not counted
		p.fact("reads", paint.Text, wording.Reads(c))
	}
	if c.Ended.IsZero() {
		p.fact("what to do", paint.Warning, p.facts.Settled)
	} else {
		p.fact("settled", paint.Text, p.look.stamp(c.Ended)+", "+wording.ConfirmEnd(c.End))
	}
	p.blank()
}

// standing says how certain the state is, and how long the intent can be confirmed.
func (p *Detail) standing(in *account.IntentDetail) {
	switch {
	case in.Missing:
		p.fact("state", paint.Bad, "the service answered 404 to the last read: it may belong to another environment")
	case in.Certainty == account.Verified:
		p.fact("state", paint.Text, "read "+p.look.age(in.ReadAt)+" ago")
	case in.Certainty == account.Reported:
		p.fact("state", paint.Warning, "unread: known only from "+witness(in))
	default:
		p.fact("state", paint.Warning, "unread: "+witness(in)+" named the intent, and nothing more is known")
	}
	p.fact("merchant", paint.Text, string(in.Merchant))
	if in.State == api.AwaitingConfirmation {
		p.expiry(&in.Intent)
	}
	p.fact("created", paint.Text, p.moment(in.CreatedAt))
}

// witness is what a state that was not read is known from.
func witness(in *account.IntentDetail) string {
	if in.StateBy() == account.ByProxy {
		return "a request that a proxy saw"
	}
	return "an event"
}

func (p *Detail) expiry(in *account.Intent) {
	expires := expiryOf(in, p.window)
	if expires.IsZero() {
		return
	}
	left := expires.Sub(p.look.service())
	if left <= 0 {
		p.fact("expires", paint.Bad, "its confirm window has closed")
		return
	}
	p.fact("expires", expiryStyle(left, p.window, paint.Text), "in "+wording.Age(left)+", at "+p.look.clock(expires))
}

func (p *Detail) failure(in *account.IntentDetail) {
	if in.State != api.Failed {
		return
	}
	p.heading("WHY IT FAILED")
	if in.Latest == nil || in.Latest.Failure == nil {
		p.paragraph(paint.Muted, "the reason is not known yet")
		return
	}
	f := in.Latest.Failure
	words := wording.Failure(f)
	if group := string(f.Code.Group()); group != words {
		words += " · " + group
	}
	p.paragraph(paint.Failed, words)
	if f.Message != "" {
		p.paragraph(paint.Text, string(f.Message))
	}
	p.paragraph(paint.Muted, f.Code.Advice())
}

// cost adds the parts of the offer's cost. It omits absent amounts: absent is not zero. What they leave of the total
// stands out.
func (p *Detail) cost(in *account.IntentDetail) {
	if in.Latest == nil || in.Latest.Offer == nil {
		return
	}
	offer := in.Latest.Offer
	p.heading("OFFER")
	c := offer.Cost
	amounts := c.Parts()
	if c.Total != nil {
		amounts = append(amounts, api.CostPart{Name: "Total", Amount: c.Total})
	}
	width := 0
	for _, part := range amounts {
		width = max(width, paint.Width(part.Signed()))
	}
	for _, part := range amounts {
		label, style := strings.ToLower(part.Name), paint.Text
		switch {
		case part.Odd:
			label, style = "! "+label, paint.Warning
		case part.Amount == c.Total:
			style |= paint.Bold
		}
		p.add(func(l *paint.Line) {
			l.Fit(paint.Muted, label, labelWidth).Right(style, part.Signed(), width)
		})
	}
	p.fact("delivery", paint.Text, wording.Shipping(offer.Option(), p.look.estimated))
	p.fact("promo codes", paint.Text, join(offer.AppliedPromoCodes...))
	if limits := in.Latest.Constraints; limits != nil { // the buyer's
		p.limit("max total", limits.MaxTotalPrice, c.Total)
		p.limit("max shipping", limits.MaxShippingPrice, c.Shipping)
	}
}

// limit adds a constraint, and whether the offer's cost exceeds it.
func (p *Detail) limit(label string, limit *int64, cost *api.Money) {
	if limit == nil || cost == nil {
		return
	}
	most := api.Money{Currency: cost.Currency, Subunits: *limit}
	if cost.Subunits > *limit {
		p.fact(label, paint.Bad, most.Readable()+", exceeded")
		return
	}
	p.fact(label, paint.Muted, most.Readable())
}

// order adds what was ordered. The buyer is personal data and stays hidden.
func (p *Detail) order(in *account.IntentDetail) {
	if in.Latest == nil {
		return
	}
	order := in.Latest
	p.heading("ORDER")
	if order.Quantity > 0 {
		p.fact("quantity", paint.Text, wording.Count(order.Quantity))
	}
	for _, v := range order.Variants {
		p.fact(strings.ToLower(string(v.Label)), paint.Text, string(v.Value))
	}
	p.address("url", order.ProductURL)
	p.fact("reference", paint.Text, string(order.ReferenceID))
	p.fact("order ids", paint.Text, join(order.OrderIDs...))
	if order.Payment != nil {
		kind := wording.Name(string(order.Payment.Type))
		if !order.Payment.Token.IsZero() {
			kind += ", token hidden"
		}
		p.fact("payment", paint.Text, kind)
	}
	p.buyer(order.Buyer)
}

// address adds a web address. Secrets in it are masked unless personal data is revealed.
func (p *Detail) address(label string, at api.Text) {
	if !p.revealed {
		at = api.MaskAddress(at)
	}
	p.fact(label, paint.Text, string(at))
}

// buyer adds the buyer, hidden unless personal data is revealed.
func (p *Detail) buyer(b *api.Buyer) {
	switch {
	case b == nil:
	case !p.revealed:
		p.fact("buyer", paint.Muted, "hidden")
	default:
		p.private("buyer", strings.TrimSpace(string(b.FirstName)+" "+string(b.LastName)))
		p.private("email", string(b.Email))
		p.private("phone", string(b.Phone))
		p.private("address", join(b.Address1, b.Address2, b.PostalCode, b.City, b.Province, b.Country))
	}
}

func (p *Detail) parcels() {
	if len(p.facts.Shipments) == 0 {
		return
	}
	p.heading("SHIPMENTS")
	for _, s := range p.facts.Shipments {
		row := newShipmentRow(s, p.look.Now)
		m := sign.Shipment(row.Status())
		carrier, number := row.tracking()
		p.add(func(l *paint.Line) {
			l.Fit(m.Style, m.Glyph+" "+m.Word, 18).Space(1)
			if l.Left() > paint.Width(number)+paint.Width(carrier) {
				l.Put(paint.Muted, carrier).Space(1)
			}
			l.Put(paint.Muted, number)
			if row.late > 0 {
				l.Space(2).Put(paint.Warning, wording.Late(row.late))
			}
		}).value = string(s.ID)
	}
}

func (p *Detail) timeline(moments []*account.Moment) {
	if len(moments) == 0 {
		return
	}
	p.heading("TIMELINE")
	stamp := 0
	for _, moment := range moments {
		stamp = max(stamp, len(p.look.stamp(moment.When)))
	}
	for i, moment := range moments {
		m := sign.Sign{Glyph: "·", Style: paint.Muted}
		if state := moment.State(); state != "" && (i == 0 || moments[i-1].State() != state) {
			m = sign.Intent(state)
		}
		how := moment.By().String()
		for i, part := range paint.Wrap(timeline.Sentence(moment), p.w-2-stamp-4-len(how)-2) {
			p.add(func(l *paint.Line) {
				if i > 0 {
					l.Space(stamp+4).Put(paint.Text, part)
					return
				}
				l.Fit(paint.Muted, p.look.stamp(moment.When), stamp+2).Put(m.Style, m.Glyph).Space(1)
				l.Fit(paint.Text, part, l.Left()-len(how)-2)
				l.Space(1).Put(paint.Muted, how)
			})
		}
	}
}

// join joins the texts that are not empty.
func join(texts ...api.Text) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, string(t))
		}
	}
	return strings.Join(all, ", ")
}
