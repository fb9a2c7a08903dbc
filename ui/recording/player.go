package recording

import (
	"context"
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
	tape *tape
	wake chan struct{} // has room for one: somebody has steered

	mu     sync.Mutex    // held for moments only: a key never waits while changes are shown
	base   time.Duration // the position at since
	since  time.Time
	speed  float64
	paused bool
	want   int // how many changes are to be shown

	screen  sync.Mutex // held while changes are shown
	picture *account.Replica
	next    int                                  // the first change not shown yet
	last    atomic.Pointer[account.IntentDetail] // the last answer of Intent, given again meanwhile
}

// PlayerConfig configures a [Player].
type PlayerConfig struct {
	Speed  float64       // 0 means 1; bounded by Slowest and Fastest
	From   time.Duration // where to begin
	Paused bool          // begin paused
}

// OpenPlayer reads a recording. Its error is one sentence that says what is wrong with
// the file and what to do.
func OpenPlayer(path string, cfg PlayerConfig) (*Player, error) {
	t, err := open(path)
	if err != nil {
		return nil, err
	}
	return newPlayer(t, cfg), nil
}

func newPlayer(t *tape, cfg PlayerConfig) *Player {
	speed := 1.0
	if cfg.Speed > 0 {
		speed = min(max(cfg.Speed, Slowest), Fastest)
	}
	p := &Player{
		tape: t, wake: make(chan struct{}, 1), picture: account.NewReplica(), speed: speed, paused: true,
	}
	p.moveTo(cfg.From)
	p.show(context.Background())
	p.setClock(p.at(), cfg.Paused)
	return p
}

// Header returns the header of the recording.
func (p *Player) Header() form.Header { return p.tape.header }

// Flaws says in a sentence what is wrong with the recording; "" if nothing is.
func (p *Player) Flaws() string {
	switch t := p.tape; {
	case t.damaged:
		return "the rest of this recording is damaged and left out"
	case t.ended == "full":
		return "this recording ends where its file reached the limit"
	case t.ended == "":
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
	Change  int  // number of changes shown
	Changes int  // number of all changes
}

// Position returns the present position, at which the screen soon is.
func (p *Player) Position() Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, changes := p.at(), len(p.tape.changes)
	return Position{
		At: at, Length: p.tape.length, Speed: p.speed, Paused: p.paused,
		Ended: at >= p.tape.length && p.want == changes, Change: p.want, Changes: changes,
	}
}

// at returns the present position. The caller holds mu.
func (p *Player) at() time.Duration {
	if p.paused {
		return p.base
	}
	passed := min(float64(time.Since(p.since))*p.speed, float64(p.tape.length))
	return p.bound(p.base + time.Duration(passed))
}

func (p *Player) bound(at time.Duration) time.Duration { return min(max(at, 0), p.tape.length) }

// Now returns the recorded moment on the screen, for the screen's clock.
func (p *Player) Now() time.Time { return p.tape.header.Began.Add(p.Position().At) }

// Changes returns what changed after version since; the whole picture if time went back.
func (p *Player) Changes(since uint64) account.Changes {
	p.screen.Lock()
	defer p.screen.Unlock()
	c := p.picture.Changes(since)
	c.At = p.Now()
	return c
}

// Intent returns everything about an intent at the moment on the screen. It never waits:
// until the screen shows the requested moment, only the last answer is known.
func (p *Player) Intent(id api.ID) (*account.IntentDetail, bool) {
	if !p.screen.TryLock() {
		last := p.last.Load()
		return last, last != nil && last.ID == id
	}
	defer p.screen.Unlock()
	in, ok := p.picture.Intent(id)
	p.last.Store(in)
	return in, ok
}

// Wait returns nil once the picture is newer than since, or the error of ctx.
func (p *Player) Wait(ctx context.Context, since uint64) error {
	for {
		p.screen.Lock()
		changed := p.picture.Changed(since)
		p.screen.Unlock()
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

// Run plays, and does what the player is asked for, until ctx ends.
func (p *Player) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		steered := false
		select {
		case <-ctx.Done():
			return nil
		case <-p.wake:
			steered = true
		case <-timer.C:
		}
		timer.Reset(p.pass())
		p.show(ctx)
		if steered { // the screen is drawn, whatever was done
			p.screen.Lock()
			p.picture.Touch()
			p.screen.Unlock()
		}
	}
}

// pass wants the changes that are due and returns the time until the next one.
func (p *Player) pass() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return longestNap
	}
	at := p.at()
	if p.want = p.until(at); p.want == len(p.tape.changes) {
		return longestNap
	}
	wait := time.Duration(float64(p.tape.changes[p.want].at-at) / p.speed)
	return min(max(wait, time.Millisecond), longestNap)
}

// Advance shows the next change at once, for a reader without a clock. It returns false
// if there is none.
func (p *Player) Advance() bool {
	p.mu.Lock()
	more := p.want < len(p.tape.changes)
	if more {
		p.setClock(p.tape.changes[p.want].at, true)
		p.want++
	}
	p.mu.Unlock()
	p.show(context.Background())
	return more
}

func (p *Player) setClock(at time.Duration, paused bool) {
	p.base, p.since, p.paused = at, time.Now(), paused
}

// moveTo sets the clock, and wants the changes up to then.
func (p *Player) moveTo(to time.Duration) {
	to = p.bound(to)
	p.setClock(to, p.paused)
	p.want = p.until(to)
}

// until counts the changes up to a moment, at least the first one: before it there is no
// picture.
func (p *Player) until(at time.Duration) int {
	changes := p.tape.changes
	return max(sort.Search(len(changes), func(i int) bool { return changes[i].at > at }), 1)
}

// show shows as many changes as are wanted, also if that changes meanwhile, or until ctx
// ends. The way back begins with the first change: a day takes a fifth of a second.
func (p *Player) show(ctx context.Context) {
	p.screen.Lock()
	defer p.screen.Unlock()
	for ctx.Err() == nil {
		p.mu.Lock()
		want := p.want
		p.mu.Unlock()
		if want == p.next {
			return
		}
		if want < p.next {
			p.picture.Clear()
			p.next = 0
		}
		p.picture.Apply(decode(p.tape.changes[p.next].lines))
		p.next++
	}
}

// steer changes what is wanted, and has Run show it.
func (p *Player) steer(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Pause stops time or lets it go on; at the end it begins again.
func (p *Player) Pause() {
	p.steer(func() {
		if p.paused && p.base >= p.tape.length {
			p.moveTo(0)
		}
		p.setClock(p.at(), !p.paused)
	})
}

// Step moves by a number of changes, backward if it is negative, and pauses there.
func (p *Player) Step(by int) {
	p.steer(func() {
		p.setClock(p.at(), true)
		target := min(max(p.want-1+by, 0), len(p.tape.changes)-1)
		if by > 0 && p.want-1 == target { // no further change: go to the end
			p.moveTo(p.tape.length)
			return
		}
		p.want = target + 1
		p.setClock(p.tape.changes[target].at, true)
	})
}

// Seek goes to a moment after the beginning.
func (p *Player) Seek(to time.Duration) { p.steer(func() { p.moveTo(to) }) }

// SeekBy moves by a duration, backward if it is negative.
func (p *Player) SeekBy(by time.Duration) { p.steer(func() { p.moveTo(p.at() + by) }) }

// ChangeSpeed moves by a number of steps among the usual speeds, down if it is negative.
func (p *Player) ChangeSpeed(by int) {
	speeds := [...]float64{Slowest, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, Fastest}
	p.steer(func() {
		p.setClock(p.at(), p.paused)
		i, _ := slices.BinarySearch(speeds[:], p.speed)
		p.speed = speeds[min(max(i+by, 0), len(speeds)-1)]
	})
}
