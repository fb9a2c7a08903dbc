package account

import (
	"encoding/json"
	"errors"
	"fmt"

	"tillwatch/api/account/form"
)

// mostItems bounds how much one line tells.
const mostItems = 64

// items is how many things the frame tells of.
func (f *Frame) items() int {
	return len(f.Intents) + len(f.Rereads) + len(f.Shipments) + len(f.Events) + len(f.Requests) + len(f.Buckets) + len(f.Limits) + len(f.Spenders)
}

// putFrame puts a frame as one line, or as several where it is too much for one.
// A single thing that cannot be told, because of its length or of a moment that
// JSON does not know, is left out and counted.
func putFrame(f *Frame, put func(*Frame) error) error {
	if f.items() <= mostItems {
		err := put(f)
		var unsupported *json.MarshalerError
		if !errors.Is(err, form.ErrLongLine) && !errors.As(err, &unsupported) {
			return err
		}
		if f.items() == 0 {
			return fmt.Errorf("telling a picture: %w", err)
		}
	}
	if f.items() == 1 {
		rest := *f
		rest.Intents, rest.Rereads, rest.Shipments, rest.Events, rest.Requests, rest.Buckets = nil, nil, nil, nil, nil, nil
		rest.Limits, rest.Spenders = nil, nil
		rest.LeftOut++
		return put(&rest)
	}
	// The first half begins the frame, the second ends it.
	first := Frame{
		At: f.At, Glance: f.Glance, Whole: f.Whole, Marks: f.Marks, Memory: f.Memory, More: true, GoneIntents: f.GoneIntents, GoneShipments: f.GoneShipments,
	}
	second := *f
	second.Whole, second.Marks = false, nil
	second.GoneIntents, second.GoneShipments = nil, nil
	most := (f.items() + 1) / 2
	first.Intents, second.Intents = cutAt(f.Intents, most)
	most -= len(first.Intents)
	first.Rereads, second.Rereads = cutAt(f.Rereads, most)
	most -= len(first.Rereads)
	first.Shipments, second.Shipments = cutAt(f.Shipments, most)
	most -= len(first.Shipments)
	first.Events, second.Events = cutAt(f.Events, most)
	most -= len(first.Events)
	first.Requests, second.Requests = cutAt(f.Requests, most)
	most -= len(first.Requests)
	first.Buckets, second.Buckets = cutAt(f.Buckets, most)
	most -= len(first.Buckets)
	first.Limits, second.Limits = cutAt(f.Limits, most)
	most -= len(first.Limits)
	first.Spenders, second.Spenders = cutAt(f.Spenders, most)
	first.AllSpenders, second.AllSpenders = f.AllSpenders, false
	first.AllBuckets = f.AllBuckets && len(first.Buckets) > 0
	second.AllBuckets = f.AllBuckets && len(first.Buckets) == 0
	if err := putFrame(&first, put); err != nil {
		return err
	}
	return putFrame(&second, put)
}

func cutAt[T any](list []T, most int) (first, second []T) {
	n := min(most, len(list))
	return list[:n], list[n:]
}
