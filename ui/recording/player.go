package recording

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// Bounds of the speed of a player.
const (
	Slowest = 0.1
	Fastest = 1000
)

// Player plays a recording: it is the source of a screen and the screen's clock. It is
// safe for concurrent use; [Player.Run] does what its methods ask for.
type Player struct {
	file *file
	seen atomic.Pointer[playback] // read without mu: the screen never waits while a chapter is read
	wake chan struct{}            // has room for one: asked is not empty

	asked struct {
		sync.Mutex
		steps []func()              // what Run has to do, in order
		since time.Time             // when the oldest request that is not yet on the screen was made; zero: there is none
		last  *account.IntentDetail // the last answer of Intent, given again meanwhile
	}

	mu      sync.Mutex
	clock   clock
	want    int // how many changes are to be shown
	next    int // the first change not shown yet
	picture *account.Replica
	lines   []byte // the unpacked lines of chapter
	chapter int
	err     error // why no chapter can be read any more; nil: each could
}

// playback is the position that a player was last asked for.
type playback struct {
	clock clock
	want  int
}

// clock is the position of a player, and whether time passes.
type clock struct {
	base   time.Duration // the position at since
	since  time.Time
	speed  float64
	paused bool
}

func (c *clock) at(now time.Time) time.Duration {
	if c.paused {
		return c.base
	}
	passed := float64(now.Sub(c.since)) * c.speed
	if passed > float64(math.MaxInt64/4) {
		return math.MaxInt64 / 4
	}
	return c.base + time.Duration(passed)
}

// PlayerConfig configures a [Player].
type PlayerConfig struct {
	Speed  float64       // 0 means 1; bounded by Slowest and Fastest
	From   time.Duration // where to begin
	Paused bool          // begin paused
}

// OpenPlayer opens a recording. Its error is one sentence that says what is wrong with
// the file and what to do.
func OpenPlayer(path string, cfg PlayerConfig) (*Player, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return newPlayer(f, cfg), nil
}

func newPlayer(f *file, cfg PlayerConfig) *Player {
	p := &Player{
		file: f, wake: make(chan struct{}, 1), picture: account.NewReplica(), chapter: -1,
		clock: clock{since: time.Now(), speed: boundSpeed(cfg.Speed), paused: true},
	}
	p.moveTo(cfg.From)
	p.show(context.Background())
	p.clock.paused = cfg.Paused
	p.publish()
	return p
}

func boundSpeed(speed float64) float64 {
	if speed == 0 || math.IsNaN(speed) {
		return 1
	}
	return min(max(speed, Slowest), Fastest)
}

// Close closes the file. The player cannot be used afterwards.
func (p *Player) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.file.close()
}

// Header returns the header of the recording.
func (p *Player) Header() form.Header { return p.file.header }

// Marks returns the marks, in order.
func (p *Player) Marks() []Mark { return slices.Clone(p.file.marks) }

// Flaws says in a sentence what is wrong with the recording; "" if nothing is.
func (p *Player) Flaws() string {
	f := p.file
	switch {
	case f.damaged == 1:
		return "a part of this recording is damaged and left out"
	case f.damaged > 1:
		return fmt.Sprintf("%d parts of this recording are damaged and left out", f.damaged)
	case f.ended == "full":
		return "this recording ends where its file reached the limit"
	case f.ended == "" && f.header.Kind != form.Picture:
		return "this recording is incomplete: tillwatch was cut off, or is still recording"
	}
	return ""
}

// Position is the position of a player.
type Position struct {
	At      time.Duration // since the beginning
	Length  time.Duration // of the recording
	Speed   float64       // 1: as recorded
	Paused  bool
	Ended   bool // nothing follows
	Seeking bool // the screen has not been there for a while: the file is being read
	Change  int  // number of changes shown
	Changes int  // number of all changes
}

// longSeek is how long the way to a position may take before the screen says so.
const longSeek = 200 * time.Millisecond

// Position returns the present position.
func (p *Player) Position() Position {
	s := p.seen.Load()
	at := p.bound(s.clock.at(time.Now()))
	p.asked.Lock()
	since := p.asked.since
	p.asked.Unlock()
	return Position{
		At: at, Length: p.file.length, Speed: s.clock.speed, Paused: s.clock.paused,
		Ended: at >= p.file.length && s.want == len(p.file.changes), Change: s.want, Changes: len(p.file.changes),
		Seeking: !since.IsZero() && time.Since(since) >= longSeek,
	}
}

func (p *Player) at() time.Duration { return p.bound(p.clock.at(time.Now())) }

func (p *Player) bound(at time.Duration) time.Duration { return min(max(at, 0), p.file.length) }

func (p *Player) publish() { p.seen.Store(&playback{p.clock, p.want}) }

// Now returns the recorded moment on the screen, for the screen's clock.
func (p *Player) Now() time.Time { return p.file.header.Began.Add(p.Position().At) }

// Changes returns what changed after version since; the whole picture if time went back.
func (p *Player) Changes(since uint64) account.Changes {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.picture.Changes(since)
	c.At = p.file.header.Began.Add(p.at())
	return c
}

// Intent returns everything about an intent at the moment on the screen. It never waits for
// the file: until the screen shows the requested moment, only the last answer is known.
func (p *Player) Intent(id api.ID) (*account.IntentDetail, bool) {
	p.asked.Lock()
	there, last := p.asked.since.IsZero(), p.asked.last
	p.asked.Unlock()
	if !there {
		return last, last != nil && last.ID == id
	}
	p.mu.Lock()
	in, ok := p.picture.Intent(id)
	p.mu.Unlock()
	in = withBody(in)
	p.asked.Lock()
	p.asked.last = in
	p.asked.Unlock()
	return in, ok
}

// Wait returns nil once the picture is newer than since, or the error of ctx.
func (p *Player) Wait(ctx context.Context, since uint64) error {
	for {
		p.mu.Lock()
		changed := p.picture.Changed(since)
		p.mu.Unlock()
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// longestNap bounds each sleep: the clock of the machine may jump.
const longestNap = time.Second

// Run plays, and does what the player is asked for, until ctx ends or the file has
// changed.
func (p *Player) Run(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("replaying: panic: %v", r)
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
			p.perform(ctx)
		case <-timer.C:
		}
		timer.Reset(p.advance(ctx))
		if err := p.Err(); err != nil {
			return err
		}
	}
}

// Err returns why the recording cannot be played on, once its file has changed; nil: it
// can.
func (p *Player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// advance shows the changes that are due and returns the time until the next one.
func (p *Player) advance(ctx context.Context) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.publish()
	if p.clock.paused {
		return longestNap
	}
	at := p.at()
	p.want = p.until(at)
	p.show(ctx)
	if p.next == len(p.file.changes) {
		return longestNap
	}
	wait := time.Duration(float64(p.file.changes[p.next].at-at) / p.clock.speed)
	return min(max(wait, time.Millisecond), longestNap)
}

// Advance shows the next change at once, for a reader without a clock. It returns false
// if there is none, or it cannot be read.
func (p *Player) Advance() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.file.changes) {
		return false
	}
	p.setClock(p.file.changes[p.next].at, true)
	p.want = p.next + 1
	p.show(context.Background())
	p.publish()
	return p.err == nil
}

func (p *Player) setClock(at time.Duration, paused bool) {
	p.clock.base, p.clock.since, p.clock.paused = at, time.Now(), paused
}

// moveTo sets the clock, and wants the changes up to then.
func (p *Player) moveTo(to time.Duration) {
	to = min(max(to, 0), p.file.length)
	p.setClock(to, p.clock.paused)
	p.want = p.until(to)
}

// until counts the changes up to a moment, at least the first one: before it there is no
// picture.
func (p *Player) until(at time.Duration) int {
	changes := p.file.changes
	return max(sort.Search(len(changes), func(i int) bool { return changes[i].at > at }), 1)
}

// show shows as many changes as are wanted. It ends before that, and returns false, if
// somebody asks for something else or ctx ends.
func (p *Player) show(ctx context.Context) bool {
	if p.want == p.next {
		return true
	}
	target := p.file.changes[p.want-1].chapter
	first := p.file.chapters[target].first
	// More than a chapter away, it is faster to begin with that chapter's picture.
	if p.want < p.next || p.next == 0 || target > p.file.changes[p.next-1].chapter+1 {
		p.picture.Clear()
		p.next = first
	}
	for {
		p.showNext()
		switch {
		case p.next == p.want:
			return true
		case ctx.Err() != nil || p.askedAgain():
			return false
		}
	}
}

func (p *Player) showNext() {
	change := &p.file.changes[p.next]
	p.next++
	if p.chapter != change.chapter && p.err == nil {
		p.lines, p.err = p.file.unpack(&p.file.chapters[change.chapter])
		p.chapter = change.chapter
	}
	if p.err != nil {
		return
	}
	begin := p.file.chapters[change.chapter].begin
	p.picture.Apply(decode(p.lines[change.from-begin : change.to-begin]))
}
