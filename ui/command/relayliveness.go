package command

import (
	"context"
	"errors"
	"net"

	"tillwatch/relay"
)

var errJournalHangs = errors.New("the journal does not answer")

// livenessOf returns a liveness check of a relay: each listener must answer, if only that
// the relay is not ready. A restart cures neither a full disk nor an unreachable
// database; it may if the files of a journal hang.
func livenessOf(r *relay.Relay, scheme string, files bool, listeners ...net.Listener) (func(context.Context) error, error) {
	var probes []*relay.Probe
	for _, l := range listeners {
		probe, err := relay.NewProbe(scheme+"://localhost", func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, l.Addr().Network(), l.Addr().String())
		})
		if err != nil {
			return nil, err
		}
		probes = append(probes, probe)
	}
	return func(ctx context.Context) error {
		for _, probe := range probes {
			var unready *relay.UnreadyError
			if _, err := probe.Ask(ctx); err != nil && !errors.As(err, &unready) {
				return err
			}
		}
		if files && r.JournalHangs() {
			return errJournalHangs
		}
		return nil
	}, nil
}
