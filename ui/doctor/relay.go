package doctor

import (
	"context"
	"errors"
	"fmt"

	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// relay asks the relay whether it is ready.
func (s *Setup) relay(ctx context.Context) Finding {
	at := s.Settings.RelayURL
	if at == "" {
		return skip("none is configured")
	}
	reader, err := s.reader()
	if err != nil {
		return fault(err.Error(), "correct relay_url")
	}
	defer reader.Close()
	switch damage, err := reader.Ready(ctx); {
	case errors.Is(err, relay.ErrNotReady):
		return fault(err.Error(), "look at its log and its disk: tillwatch doctor --data DIR there")
	case err != nil:
		return fault(err.Error(), "start the relay (tillwatch relay), or correct relay_url")
	case damage != "":
		return warn(fmt.Sprintf("it is ready at %s, but %s", at, damage), restore)
	}
	return fine("it is ready at %s", at)
}

func (s *Setup) reader() (*relay.Reader, error) {
	return relay.NewReader(relay.Access{
		URL: s.Settings.RelayURL, Token: s.Settings.RelayToken, InsecureHTTP: s.Settings.InsecureHTTP,
	})
}

// restore is what to do about lost events.
const restore = "look at the disk; put the journal back from a copy if events are missing"

// token follows the relay's stream until it is live, as every dashboard does.
func (s *Setup) token(ctx context.Context) Finding {
	ctx, end := context.WithCancel(ctx)
	defer end()
	heard := &listening{end: end}
	follow, err := session.NewSubscriber(s.Settings, relay.SubscriberConfig{From: relay.FromLatest, Client: "tillwatch doctor"})
	if err == nil {
		_ = follow.Run(ctx, heard) // the last status has the error
		err = heard.status.Err
	}
	switch {
	case heard.status.State == relay.Live:
		return fine("the stream accepts it; the newest event is number %s", wording.Count(int(heard.status.Head)))
	case errors.As(err, new(*relay.RefusedError)):
		return fault(err.Error(),
			"use a token of this relay with the scope stream: tillwatch tokens create makes one")
	case err == nil:
		err = errors.New("the stream did not become live in time")
	}
	return fault(err.Error(), "check what is in between: it must let websockets pass")
}

// listening is a [relay.Handler] that stops at the first conclusive status.
type listening struct {
	end    func()
	ending bool
	status relay.Status
}

func (l *listening) Events(context.Context, []relay.Item) error { return nil }

func (l *listening) Status(s relay.Status) {
	if l.ending {
		return
	}
	l.status = s
	if l.ending = s.State == relay.Live || s.State == relay.Lost || s.State == relay.Refused; l.ending {
		l.end()
	}
}

// signing checks the form of the signing secret, and what the relay says of the deliveries that it
// got: only those can prove that it is the account's.
func (s *Setup) signing(ctx context.Context) Finding {
	secrets := s.Settings.SigningSecrets()
	for _, secret := range secrets {
		if n := len(secret.Reveal()); n < relay.MinSecret {
			return fault(fmt.Sprintf("it has %d bytes, fewer than %d: a relay with it does not start", n,
				relay.MinSecret), "copy the whole secret from the account console")
		}
	}
	good, refused := s.deliveries(ctx)
	switch {
	case good > 0:
		return fine("the relay has verified %s since it started", wording.Counted(good, "delivery", "deliveries"))
	case refused > 0:
		return fault(fmt.Sprintf("the relay refused all %s for their signature",
			wording.Counted(refused, "delivery", "deliveries")),
			"give the relay the account's secret, from the account console, and have it reload that (SIGHUP)")
	case len(secrets) == 0:
		return skip("none is configured")
	}
	return fine("it is long enough; only a delivery can show whether it is the account's: tillwatch verify")
}

// deliveries asks the relay how many it verified and refused; none without a token of the scope admin.
func (s *Setup) deliveries(ctx context.Context) (good, refused int) {
	reader, err := s.reader()
	if err != nil {
		return 0, 0
	}
	defer reader.Close()
	counts, err := reader.Deliveries(ctx)
	if err != nil {
		return 0, 0
	}
	return int(counts["stored"] + counts["duplicate"]), int(counts["unauthorized"])
}

// journal reads all events of a relay's journal on this machine.
func (s *Setup) journal(ctx context.Context) Finding {
	if s.Journal == nil {
		return skip("--data names the folder of a relay")
	}
	j, err := s.Journal(ctx)
	switch {
	case errors.Is(err, journal.ErrInUse):
		return fine("a relay uses it, which checks it itself and is not ready if it cannot store events")
	case err != nil:
		return fault(err.Error(), "the relay does not start with it: do what that says")
	}
	events, damaged, err := readThrough(ctx, j)
	switch err = errors.Join(err, j.Close()); {
	case err != nil:
		return fault(err.Error(), restore)
	case len(damaged) > 0:
		return fault(fmt.Sprintf("%s of %s damaged, and told to subscribers as a gap; the first is number %s",
			wording.Counted(len(damaged), "event", "events"), wording.Count(events), wording.Count(int(damaged[0]))),
			restore)
	}
	return fine("it can be written, and all %s in it can be read", wording.Counted(events, "event", "events"))
}

// readThrough reads a journal from its first event to its last, and counts them.
func readThrough(ctx context.Context, j journal.Journal) (events int, damaged []int64, err error) {
	oldest, err := j.Oldest(ctx)
	head, unread := j.Head(ctx)
	if err = errors.Join(err, unread, j.Check(ctx)); err != nil {
		return 0, nil, err
	}
	for after := oldest - 1; after < head; {
		records, err := j.Read(ctx, after, 1000)
		if err != nil || len(records) == 0 { // none: a relay on the same database has pruned them
			return events, damaged, err
		}
		for _, r := range records {
			if after, events = r.Seq, events+1; r.Damaged {
				damaged = append(damaged, r.Seq)
			}
		}
	}
	return events, damaged, nil
}
