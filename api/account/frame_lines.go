package account

import (
	"encoding/json"
	"errors"
	"fmt"

	"tillwatch/api/account/form"
)

// mostItems bounds the items of one line.
const mostItems = 16

// items counts the items of the frame.
func (f *Frame) items() int {
	return len(f.Intents) + len(f.Rereads) + len(f.Shipments) + len(f.Events) + len(f.Requests) + len(f.Buckets) + len(f.Limits) + len(f.Spenders)
}

// putFrame writes a frame as one line, or splits it if it is too long. A single item that cannot be written,
// because it is too long or has a time that JSON cannot hold, is left out and counted.
func putFrame(f *Frame, put func(*Frame) error) error {
	if f.items() <= mostItems {
		err := put(f)
		var unsupported *json.MarshalerError
		if !errors.Is(err, form.ErrLongLine) && !errors.As(err, &unsupported) {
			return err
		}
		if f.items() == 0 {
			return fmt.Errorf("writing a picture: %w", err)
		}
	}
	if f.items() == 1 {
		rest := f.withoutItems()
		rest.LeftOut++
		return put(&rest)
	}
	first, second := f.cutAt((f.items() + 1) / 2)
	if err := putFrame(&first, put); err != nil {
		return err
	}
	return putFrame(&second, put)
}

// cutAt splits a frame after so many items: the first part begins the frame, the second ends it.
func (f *Frame) cutAt(most int) (first, second Frame) {
	first, second = f.withoutItems(), f.withoutItems()
	first.More, first.EventsSkipped, first.Summary, first.LeftOut, first.End = true, 0, nil, 0, ""
	second.Whole, second.GoneIntents, second.GoneShipments, second.AllSpenders = false, nil, nil, false
	first.Intents, second.Intents = cutAt(f.Intents, &most)
	first.Rereads, second.Rereads = cutAt(f.Rereads, &most)
	first.Shipments, second.Shipments = cutAt(f.Shipments, &most)
	first.Events, second.Events = cutAt(f.Events, &most)
	first.Requests, second.Requests = cutAt(f.Requests, &most)
	first.Buckets, second.Buckets = cutAt(f.Buckets, &most)
	first.Limits, second.Limits = cutAt(f.Limits, &most)
	first.Spenders, second.Spenders = cutAt(f.Spenders, &most)
	first.AllBuckets = f.AllBuckets && len(first.Buckets) > 0
	second.AllBuckets = f.AllBuckets && !first.AllBuckets
	return first, second
}

// withoutItems returns the frame without its items.
func (f *Frame) withoutItems() Frame {
	rest := *f
	rest.Intents, rest.Rereads, rest.Shipments, rest.Events, rest.Requests = nil, nil, nil, nil, nil
	rest.Buckets, rest.Limits, rest.Spenders = nil, nil, nil
	return rest
}

// cutAt splits a list: what there is room for, and the rest.
func cutAt[T any](list []T, room *int) (first, second []T) {
	n := min(*room, len(list))
	*room -= n
	return list[:n], list[n:]
}
