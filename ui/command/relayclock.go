package command

import (
	"context"
	"strings"
	"time"

	"tillwatch/relay"
)

const (
	relayTimeWithin = time.Second
	relayTimeSlack  = 2 * time.Second // a Date has whole seconds, and takes time on its way
)

// relayTime returns the time by the relay's clock, which says when it received events. If
// the relay does not answer at once, that is taken for this machine's.
func (s settings) relayTime() time.Time {
	now := time.Now()
	probe, err := relay.NewProbe(strings.TrimSuffix(s.RelayURL, "/")+"/livez", nil)
	if err != nil {
		return now
	}
	ctx, cancel := context.WithTimeout(context.Background(), relayTimeWithin)
	defer cancel()
	if date := probe.Date(ctx); !date.IsZero() && now.Sub(date).Abs() > relayTimeSlack {
		return date
	}
	return now
}
