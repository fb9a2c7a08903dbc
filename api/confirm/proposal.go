package confirm

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
)

// Proposal is what a person saw and approved. [Propose] makes it, always from an intent that was read.
type Proposal struct {
	ID          api.ID
	Environment string
	Live        bool // real money may move in the environment
	Product     api.Text
	ProductURL  api.Text
	Merchant    api.Text
	Variant     api.Text // what was selected, as in "Size M, Color Oat"; "" for nothing
	Quantity    int      // 0 while unknown
	Cost        api.Cost
	Total       api.Money
	ExpiresAt   time.Time          // end of the confirm window; zero while unknown
	Option      api.ShippingOption // that the service selected; only an id if it is not listed, zero for none
	PromoCodes  []api.Text         // that the merchant took
	Payment     api.PaymentType    // that the intent names; "" for none

	// Withdrawn takes the yes back when it is closed: nothing is sent unless the confirm is written down already. nil: never.
	Withdrawn <-chan struct{}

	seen api.Intent // what is private, too, but no body
}

// Propose binds what was read. It refuses an intent that was not read as awaiting_confirmation, and one
// whose total is missing or negative. window is how long after its creation an intent can be confirmed; where is
// the environment that answered.
func Propose(read *api.Intent, where api.Environment, window time.Duration) (Proposal, error) {
	if read == nil {
		return Proposal{}, fmt.Errorf("the intent has not been read yet")
	}
	if read.State == "" {
		return Proposal{}, fmt.Errorf("the service does not say which state intent %s is in", read.ID)
	}
	if read.State != api.AwaitingConfirmation {
		return Proposal{}, fmt.Errorf("intent %s is %s, not awaiting confirmation", read.ID, read.State)
	}
	total, ok := read.Total()
	if !ok {
		return Proposal{}, fmt.Errorf("intent %s has no total to say yes to", read.ID)
	}
	if total.Subunits < 0 {
		return Proposal{}, fmt.Errorf("intent %s has a total of %s, which cannot be right", read.ID, total)
	}
	p := Proposal{
		ID:          read.ID,
		Environment: where.Name,
		Live:        where.Live,
		Product:     read.ProductName(),
		ProductURL:  read.ProductURL,
		Merchant:    read.Merchant(),
		Variant:     variant(read.Variants),
		Quantity:    read.Quantity,
		Cost:        read.Offer.Cost,
		Total:       total,
		Option:      read.Offer.Option(),
		PromoCodes:  read.Offer.AppliedPromoCodes,
		seen:        *read,
	}
	p.seen.Raw = nil
	if read.Payment != nil {
		p.Payment = read.Payment.Type
	}
	if !read.CreatedAt.IsZero() {
		p.ExpiresAt = read.CreatedAt.Add(window)
	}
	return p, nil
}

// Item names what is bought, and how many: "Wool Socks ×2".
func (p Proposal) Item() string {
	name := cmp.Or(p.Product, "an unnamed product")
	if p.Quantity == 0 {
		return string(name) + ", how many is not known"
	}
	return fmt.Sprintf("%s ×%d", name, p.Quantity)
}

// answeredBy returns an error if another environment answers than the one where the person saw the intent.
func (p Proposal) answeredBy(now api.Environment) error {
	if now.Name == p.Environment && now.Live == p.Live {
		return nil
	}
	money := "no real money moves"
	if now.Live {
		money = "real money may move"
	}
	return fmt.Errorf("it was seen in %q, but %q answers now, where %s: look at it again", p.Environment, now.Name, money)
}

// Difference is one thing that has changed since the person saw it.
type Difference struct {
	What string `json:"what"`
	Seen string `json:"seen"`
	Now  string `json:"now"`
}

// InWords says what has changed.
func InWords(changed []Difference) string {
	each := make([]string, len(changed))
	for i, d := range changed {
		each[i] = d.What + " was " + d.Seen + ", is " + d.Now
	}
	return strings.Join(each, "; ")
}

// CostsNow returns how the total of a read differs from the one that was seen; nil where
// it does not, or the read has none.
func (p Proposal) CostsNow(now *api.Intent) []Difference {
	if now == nil || now.Offer == nil || now.Offer.Cost.Total == nil || *now.Offer.Cost.Total == p.Total {
		return nil
	}
	return []Difference{{"total", p.Total.String(), now.Offer.Cost.Total.String()}}
}
