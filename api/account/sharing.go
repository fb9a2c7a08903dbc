package account

import (
	"errors"
	"slices"

	"tillwatch/api"
)

// Masked lists, in words, what the frames of a [FrameWriter] never contain.
func Masked() []string {
	return []string{
		"keys and tokens", "payment tokens", "buyers but for the country", "mail addresses in texts", "tracking numbers but for their last four",
		"tracking links", "places and descriptions of scans", "the values of URL queries", "fields that the contract does not show",
	}
}

// Shared values are copies without what is private. An [api.Buyer] masks itself in JSON.

// Shared returns the intent as it leaves the process.
func (in *IntentDetail) Shared() *IntentDetail {
	out := *in
	var buyer *api.Buyer
	if in.Latest != nil {
		buyer = in.Latest.Buyer
		out.Latest = shareOrder(in.Latest)
	}
	out.Product = maskText(in.Product)
	out.ReferenceID = maskQuoted(in.ReferenceID, buyer)
	out.Failure = shareFailure(in.Failure, buyer)
	out.ReadAt = in.ReadAt.UTC()
	out.Timeline = shareMoments(in.Timeline)
	return &out
}

// shareMoments masks who was seen, and answers, in copies.
func shareMoments(all []*Moment) []*Moment {
	for i, m := range all {
		if m.Who != "" && m.Who != maskText(m.Who) || m.Words != "" && m.Words != maskText(m.Words) {
			masked := *m
			masked.Who, masked.Words = maskText(m.Who), maskText(m.Words)
			all = slices.Clone(all)
			all[i] = &masked
		}
	}
	return all
}

func shareOrder(in *api.Intent) *api.Intent {
	out := *in
	out.ProductURL = maskAddress(in.ProductURL)
	out.ReferenceID = maskQuoted(in.ReferenceID, in.Buyer)
	out.Failure = shareFailure(in.Failure, in.Buyer)
	out.Variants = nil
	for _, v := range in.Variants {
		out.Variants = append(out.Variants, api.VariantSelection{Label: maskQuoted(v.Label, in.Buyer), Value: maskQuoted(v.Value, in.Buyer)})
	}
	if in.Offer != nil {
		offer := *in.Offer
		offer.ProductTitle = maskText(offer.ProductTitle)
		offer.ShippingOptions = slices.Clone(offer.ShippingOptions)
		for i, option := range offer.ShippingOptions {
			offer.ShippingOptions[i].Label = maskQuoted(option.Label, in.Buyer)
		}
		out.Offer = &offer
	}
	return &out
}

func shareFailure(f *api.FailureReason, b *api.Buyer) *api.FailureReason {
	if f == nil {
		return nil
	}
	return &api.FailureReason{Code: f.Code, Message: maskQuoted(f.Message, b)}
}

// Shared returns the shipment as it leaves the process, without where it was scanned: the last place is where the buyer
// lives.
func (sh *Shipment) Shared() *Shipment {
	out := *sh
	out.Product, out.ReadAt = maskText(sh.Product), sh.ReadAt.UTC()
	if sh.Latest == nil {
		return &out
	}
	latest := *sh.Latest
	if t := latest.Tracking; t != nil {
		latest.Tracking = &api.Tracking{Carrier: t.Carrier, Number: maskNumber(t.Number), Estimated: t.Estimated}
	}
	latest.TrackingEvents = scansWithoutPlaces(latest.TrackingEvents)
	out.Latest = &latest
	return &out
}

func scansWithoutPlaces(scans []api.TrackingEvent) []api.TrackingEvent {
	var out []api.TrackingEvent
	for _, e := range scans {
		out = append(out, api.TrackingEvent{Status: e.Status, At: e.At})
	}
	return out
}

func shareEvent(e *Event) *Event {
	out := *e
	out.Product = maskText(e.Product)
	return &out
}

// SharedRequest returns a request as it leaves the process.
func SharedRequest(e api.Exchange) api.Exchange {
	e.Path, e.Sent, e.Err = maskString(e.Path), e.Sent.UTC(), shareError(e.Err)
	e.By = maskText(e.By)
	return e
}

func shareSpenders(spenders []Spender) []Spender {
	out := slices.Clone(spenders)
	for i := range out {
		out[i].Name = maskText(out[i].Name)
	}
	return out
}

func shareError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(string(api.Scrub(maskString(errorText(err)))))
}

// Shared returns the summary as it leaves the process.
func (s Summary) Shared() Summary {
	s.Quota, s.Spenders = inUTC(slices.Clone(s.Quota)), shareSpenders(s.Spenders)
	s.LastEvent, s.LastRead = s.LastEvent.UTC(), s.LastRead.UTC()
	s.Feed.Err, s.Feed.Since, s.Feed.RetryAt = shareError(s.Feed.Err), s.Feed.Since.UTC(), s.Feed.RetryAt.UTC()
	s.API.Err, s.API.Since, s.API.TryAt = shareError(s.API.Err), s.API.Since.UTC(), s.API.TryAt.UTC()
	s.List.Err, s.ShipmentList.Err = shareError(s.List.Err), shareError(s.ShipmentList.Err)
	d := &s.Day
	d.At, d.Resets, d.Spent, d.Free = d.At.UTC(), d.Resets.UTC(), d.Spent.UTC(), d.Free.UTC()
	alerts := make([]Alert, len(s.Alerts))
	for i, a := range s.Alerts {
		a.Text, a.Cause, a.Since, a.Due = maskString(a.Text), maskString(a.Cause), a.Since.UTC(), a.Due.UTC()
		alerts[i] = a
	}
	s.Alerts = alerts
	confirms := make([]*Confirm, len(s.Confirms))
	for i, c := range s.Confirms {
		shared := *c
		shared.Product, shared.Run, shared.Answer, shared.Detail = maskText(c.Product), maskText(c.Run), maskText(c.Answer), maskText(c.Detail)
		shared.Sent, shared.Answered, shared.Ended, shared.Read = c.Sent.UTC(), c.Answered.UTC(), c.Ended.UTC(), c.Read.UTC()
		confirms[i] = &shared
	}
	s.Confirms = confirms
	return s
}
