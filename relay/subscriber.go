package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Where a subscription begins when it has no cursor.
const (
	FromEarliest = "earliest"
	FromLatest   = "latest"
)

const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 20 * time.Second
	// lastRetryHere is lastRetry for a relay on this machine, which only its own clients ask.
	lastRetryHere = time.Second

	// A session this long, or one that moved the cursor, makes the next retry quick again.
	settledAfter = 10 * time.Second
)

// SubscriberConfig says which stream to follow and from where.
type SubscriberConfig struct {
	URL    string     // of the relay: http, https, ws or wss; the path defaults to /v1/stream
	Token  api.Secret // bearer token with the scope stream
	Cursor string     // to resume after, "<epoch>:<seq>" or "<epoch>:<seq>:<id>"; "" for none
	From   string     // where to begin without a cursor: "earliest" (default) or "latest"
	Since  time.Time  // instead of From: begin with what the relay received at or after this time
	Here   bool       // Since is by this machine's clock, not by the relay's
	Types  []string   // event types wanted, "shipment.*"; empty for all
	Client string     // names this client in the relay's logs

	InsecureHTTP bool // allow http and ws to another machine, where everyone on the way can read the token

	// Dial opens the connection; the default is that of [api.DialerTo].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Subscriber follows a relay's stream: it reconnects by itself and delivers each sequence number once, in order.
type Subscriber struct {
	config   SubscriberConfig
	location *url.URL
	retry    chan struct{} // asks for the next attempt now
	since    time.Time     // of the configuration, by the relay's clock; used by the running goroutine
	stored   int64         // the head when the stream began: what follows is new, whatever its time; likewise

	mu     sync.Mutex
	at     *cursor // nil before the first welcome
	status Status
}

// Handler receives what a subscriber gets, in order, from one goroutine. When Events returns nil, the cursor moves
// past the batch; after an error, the subscriber reconnects and delivers the batch again. Do not keep the batch
// after Events has returned.
type Handler interface {
	Events(ctx context.Context, batch []Item) error
	Status(Status)
}

// Observer is what a [Handler] also implements to get observations: those of the last hour, then new ones, each once.
type Observer interface {
	Observe(batch []quota.Observation)
}

// Item is one event of the stream.
type Item struct {
	Seq        int64 // its place in the journal, from 1
	Event      api.Event
	Received   time.Time // by the relay's clock
	Origin     string    // webhook or backfill, scrubbed
	Duplicates int       // repeated deliveries that were known when it was sent
	Conflicts  int       // of these, those with another body
	ID         api.ID    // as the relay has it, which need not be what this version reads from the body
}

// Cursor returns the cursor behind the item in a journal, as [Subscriber.Cursor] does.
func (i Item) Cursor(epoch string) string { return cursor{epoch, i.Seq, string(i.ID)}.String() }

// StreamState is the state of a subscriber.
type StreamState string

// The states of a subscriber.
const (
	Dialling  StreamState = "dialling"
	Replaying StreamState = "replaying"
	Live      StreamState = "live"
	Lost      StreamState = "lost"    // will try again
	Refused   StreamState = "refused" // will not try again
)

// Status is the state of a subscriber and of its relay's journal.
type Status struct {
	State    StreamState
	Since    time.Time     // when the state began
	Epoch    string        // of the journal; "" before the first welcome
	Head     int64         // the journal's newest seq, as last heard; 0 for none
	Cursor   int64         // the newest seq delivered; 0 for none
	Last     api.ID        // the id of that event; "" if it is not known
	Resume   string        // ok, fresh, gap or reset, as the relay said
	LostFrom int64         // the first seq that could not be read any more, at the start or since; 0 for none
	LostTo   int64         // the last of them
	Ahead    int64         // with reset: the cursor's seq, if the journal ends before it; 0: it is another journal
	Err      error         // why, with lost and refused
	RetryIn  time.Duration // with lost: from Since to the next attempt

	// ObservedSince is when the observations that the relay had at the last welcome begin; zero: an hour before it.
	ObservedSince time.Time

	Wrong WrongSignatures // as the relay reported, its text scrubbed
}

// NewSubscriber checks cfg.
func NewSubscriber(cfg SubscriberConfig) (*Subscriber, error) {
	location, err := streamURL(cfg.URL, cfg.InsecureHTTP)
	if err != nil {
		return nil, err
	}
	if cfg.Token.IsZero() {
		return nil, errors.New("the relay's stream needs a token")
	}
	if cfg.From == "" {
		cfg.From = FromEarliest
	}
	if cfg.From != FromEarliest && cfg.From != FromLatest {
		return nil, fmt.Errorf("a stream begins at %s or %s, not at %.40q", FromEarliest, FromLatest, cfg.From)
	}
	if _, err := newFilter(cfg.Types); err != nil {
		return nil, err
	}
	if cfg.Dial == nil {
		cfg.Dial = api.DialerTo(location.Hostname()).DialContext
	}
	s := &Subscriber{config: cfg, location: location, retry: make(chan struct{}, 1)}
	if cfg.Cursor != "" {
		if err := s.Resume(cfg.Cursor); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Resume sets the cursor of a subscriber that has none. It does nothing if there is one.
func (s *Subscriber) Resume(position string) error {
	at, err := parseCursor(position)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = &at
	}
	return nil
}

// CheckURL returns what is wrong with a relay's address; nil if nothing is.
func CheckURL(text string) error {
	_, err := streamURL(text, true)
	return err
}

// streamURL derives the stream's address from the relay's, which may be below a path. Unless insecure is set, it
// refuses to send a token unencrypted to another machine.
func streamURL(text string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme):
		return nil, errors.New("the relay's URL begins with http, https, ws or wss and names a host, as in " +
			"http://127.0.0.1:8088") // the URL itself may hold a token
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the relay's URL carries more than scheme, host and path: " +
			"a token belongs in its own setting")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), WebhookPath):
		return nil, errors.New("this is where the service delivers: give the relay's URL without " + WebhookPath)
	}
	if err := api.CheckClearText(u, "the relay's token"); err != nil && !insecure {
		return nil, err
	}
	if rest, plain := strings.CutPrefix(u.Scheme, "http"); plain {
		u.Scheme = "ws" + rest
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), StreamPath) + StreamPath
	return u, nil
}

// Cursor returns where to resume, "<epoch>:<seq>" or, where the relay can then tell whether its journal still has the
// event, "<epoch>:<seq>:<id>"; "" before the first welcome if none was configured.
func (s *Subscriber) Cursor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		return ""
	}
	return s.at.String()
}

// Run follows the stream until ctx ends, and returns nil, or until the relay refuses this client for good, and
// returns the error. Call it once.
func (s *Subscriber) Run(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	woken := make(chan struct{}, 1)
	var tasks sync.WaitGroup
	tasks.Go(func() { watchClock(ctx, woken) })
	defer tasks.Wait()
	defer cancel()
	longest := lastRetry
	if api.Loopback(s.location.Hostname()) {
		longest = lastRetryHere
	}
	retries := newRetries(longest)
	for {
		s.enter(h, Status{State: Dialling})
		began, before := time.Now(), s.Cursor()
		err := s.session(ctx, h, woken)
		if ctx.Err() != nil {
			return nil
		}
		var refusal *RefusedError
		if errors.As(err, &refusal) {
			s.enter(h, Status{State: Refused, Err: err})
			return err
		}
		if time.Since(began) >= settledAfter || s.Cursor() != before {
			retries.Reset()
		}
		if !s.pause(ctx, h, err, retryAfter(err, retries), woken) {
			return nil
		}
	}
}

// Retry ends the pause before the next attempt. It does nothing if the subscriber does not pause, and never
// blocks.
func (s *Subscriber) Retry() {
	if s.Status().State != Lost {
		return
	}
	select {
	case s.retry <- struct{}{}:
	default: // already requested
	}
}

// pause waits before the next attempt, unless a retry is requested. It returns false if ctx has ended.
func (s *Subscriber) pause(ctx context.Context, h Handler, err error, wait time.Duration, woken <-chan struct{}) bool {
	select {
	case <-s.retry: // left from an earlier pause
	default:
	}
	s.enter(h, Status{State: Lost, Err: err, RetryIn: wait})
	select {
	case <-time.After(wait):
	case <-woken:
	case <-s.retry:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// newRetries are times between 0 and an exponentially growing bound, up to longest ("full jitter").
func newRetries(longest time.Duration) *backoff.ExponentialBackOff {
	retries := &backoff.ExponentialBackOff{
		InitialInterval: firstRetry / 2, Multiplier: 2, MaxInterval: longest / 2,
		RandomizationFactor: 1, // from 0 to twice the interval
	}
	retries.Reset()
	return retries
}

// retryAfter is the pause that a bye asked for, or the next of retries.
func retryAfter(err error, retries *backoff.ExponentialBackOff) time.Duration {
	var bye *byeError
	switch {
	case errors.Is(err, errWoken):
		return 0
	case errors.As(err, &bye):
		return bye.earliest + rand.N(bye.latest-bye.earliest+1)
	}
	return retries.NextBackOff()
}

// byeError is the relay's bye, with the time to reconnect.
type byeError struct {
	reason           api.Text
	earliest, latest time.Duration
}

func (e *byeError) Error() string { return fmt.Sprintf("the relay said bye: %s", e.reason) }

func byeOf(frame byeFrame) error {
	bye := &byeError{reason: api.Scrub(frame.Reason), earliest: firstRetry, latest: lastRetry}
	if len(frame.RetryMS) == 2 {
		bye.earliest = boundedWait(frame.RetryMS[0])
		bye.latest = max(bye.earliest, boundedWait(frame.RetryMS[1]))
	}
	return bye
}

func boundedWait(milliseconds int64) time.Duration {
	return time.Duration(min(max(milliseconds, 0), maxRetryWait.Milliseconds())) * time.Millisecond
}

// enter changes the state and informs the handler. What the relay said of its journal is kept.
func (s *Subscriber) enter(h Handler, next Status) {
	next.Since = time.Now()
	s.note(func(known *Status) {
		next.Epoch, next.Head, next.Cursor, next.Last = known.Epoch, known.Head, known.Cursor, known.Last
		next.ObservedSince, next.Wrong = known.ObservedSince, known.Wrong
		if next.Resume == "" {
			next.Resume, next.LostFrom, next.LostTo, next.Ahead = known.Resume, known.LostFrom, known.LostTo, known.Ahead
		}
		*known = next
	})
	h.Status(next)
}

// moved sets the cursor.
func (s *Subscriber) moved(to cursor) {
	s.note(func(known *Status) {
		s.at = &to
		known.Epoch, known.Cursor, known.Last = to.epoch, to.seq, api.ScrubID(to.last)
		known.Head = max(known.Head, to.seq)
	})
}

// note changes the status.
func (s *Subscriber) note(change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// Status returns the current status.
func (s *Subscriber) Status() (now Status) {
	s.note(func(known *Status) { now = *known })
	return now
}

const (
	clockInterval = time.Second
	clockSlack    = 5 * time.Second
)

// watchClock signals woken when this process has not run for a while or the machine has slept: older connections
// may be dead without showing it.
func watchClock(ctx context.Context, woken chan<- struct{}) {
	ticker := time.NewTicker(clockInterval)
	defer ticker.Stop()
	for before := time.Now(); ; before = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		if slept(now.Sub(before), now.Round(0).Sub(before.Round(0))) {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	}
}

// slept compares the time between two ticks on the monotonic clock, which stops while most machines sleep, and on
// the wall clock, which does not. A wall clock that was set back proves nothing.
func slept(monotonic, wall time.Duration) bool {
	return monotonic > clockInterval+clockSlack || wall > monotonic+clockSlack
}
