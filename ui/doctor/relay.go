package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/ui/wording"
)

// relay asks the relay whether it is ready.
func (s *Setup) relay(ctx context.Context) Finding {
	if s.RelayURL == "" {
		return skip("none is configured")
	}
	var err error
	if s.reader, err = s.Reader(); err != nil {
		return fault(err.Error(), "correct relay_url")
	}
	damage, err := s.reader.Ready(ctx)
	switch {
	case err == nil && damage != "":
		return warn(fmt.Sprintf("it is ready at %s, but %s", s.RelayURL, damage),
			"look at its disk; put its journal back from a copy if events are missing")
	case err == nil:
		return fine("it is ready at %s", s.RelayURL)
	case errors.Is(err, relay.ErrNotReady):
		return fault(err.Error(), "look at its log and its disk: tillwatch doctor --data DIR there")
	case s.servesEvents(ctx):
		return warn(fmt.Sprintf("whether the relay at %s is ready is unknown: %s", s.RelayURL, err),
			"check relay_url; a front should pass all of a relay's paths on")
	}
	return fault(err.Error(), "start the relay (tillwatch relay), or correct relay_url")
}

// servesEvents reports whether what answers at the relay's address serves events or refuses the token.
func (s *Setup) servesEvents(ctx context.Context) bool {
	_, err := s.reader.Head(ctx, 0)
	return err == nil || errors.As(err, new(*relay.RefusedError))
}

// token follows the relay's stream until it is live, as every dashboard does.
func (s *Setup) token(ctx context.Context) Finding {
	ctx, end := context.WithCancel(ctx)
	defer end()
	heard := &listening{end: end}
	follow, err := s.Subscriber(relay.SubscriberConfig{From: relay.FromLatest, Client: "tillwatch doctor"})
	if err == nil {
		_ = follow.Run(ctx, heard) // the last status has the error
		err = heard.status.Err
	}
	switch {
	case heard.status.State == relay.Live:
		return fine("the stream accepts it; the newest event is number %s", wording.Count(int(heard.status.Head)))
	case errors.As(err, new(*relay.RefusedError)):
		return fault(err.Error(), "use a token of this relay with the scope stream: tillwatch tokens create makes one")
	case err == nil:
		err = errors.New("the stream did not become live in time")
	}
	return fault(err.Error(), "check what is in between: it must let websockets pass")
}

// listening is a [relay.Handler] that stops at the first conclusive status.
type listening struct {
	end    func()
	status relay.Status
}

func (l *listening) Events(context.Context, []relay.Item) error { return nil }

func (l *listening) Status(s relay.Status) {
	switch l.status.State {
	case relay.Live, relay.Lost, relay.Refused: // it is ending
		return
	}
	if l.status = s; s.State == relay.Live || s.State == relay.Lost || s.State == relay.Refused {
		l.end()
	}
}

// signing checks the form of the signing secret, and what the relay says of the deliveries that it
// got: only those can prove that it is the account's.
func (s *Setup) signing(ctx context.Context) Finding {
	for _, secret := range s.SigningSecrets {
		if n := len(secret.Reveal()); n < relay.MinSecret {
			return fault(fmt.Sprintf("it has %d bytes, fewer than %d: a relay with it does not start", n,
				relay.MinSecret),
				"copy the whole secret from the account console")
		}
	}
	if s.reader != nil {
		counts, err := s.reader.Deliveries(ctx) // with a token of the scope admin
		good := counts["stored"] + counts["duplicate"]
		switch {
		case err == nil && good == 0 && counts["unauthorized"] > 0:
			return fault(fmt.Sprintf("the relay refused all %s for their signature",
				wording.Counted(int(counts["unauthorized"]), "delivery", "deliveries")),
				"give the relay the account's secret, from the account console, and have it reload that (SIGHUP)")
		case err == nil && good > 0:
			return fine("the relay has verified %s since it started",
				wording.Counted(int(good), "delivery", "deliveries"))
		}
	}
	if len(s.SigningSecrets) == 0 {
		return skip("none is configured")
	}
	return fine("it is long enough; only a delivery can show whether it is the account's: tillwatch verify")
}

// journal reads all events of a relay's journal on this machine.
func (s *Setup) journal(ctx context.Context) (found Finding) {
	if s.Journal == nil {
		return skip("--data names the folder of a relay")
	}
	const do = "look at the disk; put the journal back from a copy if events are missing"
	j, err := s.Journal(ctx)
	if errors.Is(err, journal.ErrInUse) {
		return fine("a relay uses it, which checks it itself and is not ready if it cannot store events")
	}
	if err != nil {
		return fault(err.Error(), "the relay does not start with it: do what that says")
	}
	defer func() {
		if err := j.Close(); err != nil {
			found = fault(err.Error(), do)
		}
	}()
	oldest, err := j.Oldest(ctx)
	head, unread := j.Head(ctx)
	if err = errors.Join(err, unread, j.Check(ctx)); err != nil {
		return fault(err.Error(), do)
	}
	var damaged []string
	for after := oldest - 1; after < head; {
		records, err := j.Read(ctx, after, 1000)
		if err != nil {
			return fault(err.Error(), do)
		}
		if len(records) == 0 {
			break // a relay on the same database has pruned them
		}
		for _, r := range records {
			if after = r.Seq; r.Damaged {
				damaged = append(damaged, wording.Count(int(r.Seq)))
			}
		}
	}
	if n := len(damaged); n > 0 {
		const most = 20
		return fault(fmt.Sprintf("%s of %s damaged, and told to subscribers as a gap: %s",
			wording.Counted(n, "event", "events"),
			wording.Count(int(head-oldest+1)), strings.Join(damaged[:min(n, most)], ", ")+strings.Repeat(" …",
				min(n/(most+1), 1))), do)
	}
	return fine("it can be written, and all %s in it can be read",
		wording.Counted(int(head-oldest+1), "event", "events"))
}
