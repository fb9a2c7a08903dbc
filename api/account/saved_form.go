package account

import (
	"bytes"
	"encoding/gob"
	"errors"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// The form in which a picture is saved. Fields may be added; a change of what one
// means needs a new number in the file's first line. What is not listed here is
// not saved: that keeps bodies, tokens and buyers out.
type savedPicture struct {
	head  savedHead
	parts []savedPart
}

type savedHead struct {
	SavedAt   instant
	Epoch     string
	Cursor    int64
	LastEvent instant
	LastRead  instant
	Counters  EventCounters
	Elsewhere int
	Confirms  []time.Duration            // of others, after the offer; the newest last
	Stays     map[string][]time.Duration // by state, oldest first
	Quota     []quota.Memory
	DayMost   dayMost
	Refused   dayRefusal
}

// savedPart is one message of the file; the last has End and nothing else.
type savedPart struct {
	Intents   []savedIntent
	Shipments []savedShipment
	Events    []savedEvent
	End       bool
}

type savedIntent struct {
	ID, State         string
	Certainty         uint8
	Since, CreatedAt  instant
	ReadAt            instant
	Missing           bool
	Product, Merchant string
	Total             *savedMoney
	Shipments         []string
	Reads             int
	Timeline          []savedMoment
	Latest            *savedRead

	Floor             int
	Newest, LastEvent instant
	Known             instant
	Seen              uint8
	StateReads        int
	Behind, NotFound  int
	Listed            bool
}

// savedRead is what the newest read of an intent told, as far as it is kept.
type savedRead struct {
	State       string
	CreatedAt   instant
	ProductURL  string
	Quantity    int
	ReferenceID string
	Variants    []savedVariant
	Limits      *savedLimits
	Offer       *savedOffer
	PaymentType string
	FailureCode string
	Failure     string
	OrderIDs    []string
}

type savedVariant struct{ Label, Value string }

// savedLimits holds a limit as its value plus one: 0 stands for none.
type savedLimits struct{ Total, Shipping int64 }

type savedOffer struct {
	ProductTitle                                        string
	Subtotal, Shipping, Tax, Discount, Surcharge, Total *savedMoney
	Selected                                            *savedOption
	PromoCodes                                          []string
}

type savedOption struct {
	ID               string
	Cost, Discount   *savedMoney
	Earliest, Latest instant
}

type savedMoney struct {
	Currency string
	Subunits int64
}

type savedMoment struct {
	What       string
	At, Learnt instant
	How        uint8
	From       string
	State      string // that it tells of
	EventID    string
	Type       string
	Late       bool
	Total      *savedMoney
	Failure    string
	Status     string
	Count      int
}

type savedShipment struct {
	ID, IntentID, Product string
	Certainty             uint8
	ReadAt, Newest        instant
	LastEvent             instant
	Missing               bool
	NotFound              int
	Latest                *savedParcel
}

// savedParcel leaves out where a parcel was seen: in the end that is where its
// buyer lives.
type savedParcel struct {
	Status                                     string
	CreatedAt, UpdatedAt, ShippedAt, Delivered instant
	OrderID, ExternalID                        string
	Tracking                                   *savedTracking
	Scans                                      []savedScan
}

type savedTracking struct {
	Carrier, Number, URL string
	Estimated            instant
}

type savedScan struct {
	Status string
	At     instant
}

type savedEvent struct {
	Seq                  int64
	ID, Type             string
	SourceType, SourceID string
	Product              string
	CreatedAt, Received  instant
	Origin               string
	Duplicates           int
	Late                 bool
	Status               string
}

func (p *savedPicture) decode(body []byte) error {
	decoder := gob.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(&p.head); err != nil {
		return err
	}
	for {
		var part savedPart
		if err := decoder.Decode(&part); err != nil {
			return err
		}
		if err := part.check(); err != nil {
			return err
		}
		if part.End {
			return nil
		}
		p.parts = append(p.parts, part)
	}
}

// check refuses what nothing can be made of.
func (p *savedPart) check() error {
	for i := range p.Intents {
		if p.Intents[i].ID == "" || p.Intents[i].Certainty > uint8(Verified) {
			return errors.New("an intent without id or with an unknown certainty")
		}
	}
	for i := range p.Shipments {
		if p.Shipments[i].ID == "" || p.Shipments[i].Certainty > uint8(Verified) {
			return errors.New("a shipment without id or with an unknown certainty")
		}
	}
	for i := range p.Events {
		if p.Events[i].ID == "" {
			return errors.New("an event without id")
		}
	}
	return nil
}

func savedMoneyOf(m *api.Money) *savedMoney {
	if m == nil {
		return nil
	}
	return &savedMoney{m.Currency, m.Subunits}
}

func (m *savedMoney) money() *api.Money {
	if m == nil {
		return nil
	}
	return &api.Money{Currency: string(api.Scrub(m.Currency)), Subunits: m.Subunits}
}

func stringsOf[T ~string](list []T) []string {
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return texts
}

func textsFrom(list []string) []api.Text {
	if len(list) == 0 {
		return nil
	}
	texts := make([]api.Text, len(list))
	for i, t := range list {
		texts[i] = api.Scrub(t)
	}
	return texts
}
