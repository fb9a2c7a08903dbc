package recording

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// onPlayer plays two minutes in which one more intent comes every second, paused
// at the beginning, in a bubble of time.
func onPlayer(t *testing.T, cfg PlayerConfig, play func(t *testing.T, p *Player)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		for i := range 120 {
			s.read(fmt.Sprintf("ci_%d", i), api.AwaitingConfirmation, "")
			if i == 60 {
				s.read("ci_10", api.Failed, "")
			}
			s.pass(time.Second)
		}
		s.end()
		p := s.play(cfg)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		synctest.Wait()
		play(t, p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// shown is how many intents are shown.
func shown(p *Player) int { return len(p.Changes(0).Intents) }

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTimePassesAtItsSpeed(t *testing.T) {
	for _, speed := range []float64{0.5, 1, 10} {
		onPlayer(t, PlayerConfig{Speed: speed}, func(t *testing.T, p *Player) {
			began := p.Header().Began
			pass(4*time.Second + 500*time.Millisecond)
			want := time.Duration(float64(4500*time.Millisecond) * speed)
			if at := p.Position().At; at != want || !p.Now().Equal(began.Add(want)) {
				t.Errorf("at %v×: position %v, clock %v, want %v", speed, at, p.Now(), want)
			}
			if n, most := shown(p), int(want/time.Second)+1; n < most-1 || n > most {
				t.Errorf("at %v×: %d intents, want about %d", speed, n, most)
			}
		})
	}
}

func TestAPauseHoldsTheClockAndThePicture(t *testing.T) {
	onPlayer(t, PlayerConfig{}, func(t *testing.T, p *Player) {
		pass(10 * time.Second)
		p.Pause()
		synctest.Wait()
		at, n := p.Position().At, shown(p)
		pass(time.Minute)
		if !p.Position().Paused || p.Position().At != at || shown(p) != n {
			t.Errorf("it went on to %+v with %d intents, from %v with %d", p.Position(), shown(p), at, n)
		}
		p.Pause()
		pass(5 * time.Second)
		if got := p.Position().At; got != at+5*time.Second {
			t.Errorf("it went on at %v, want %v", got, at+5*time.Second)
		}
	})
}

func TestStepsGoByChangesAndPause(t *testing.T) {
	onPlayer(t, PlayerConfig{From: 30 * time.Second}, func(t *testing.T, p *Player) {
		n := shown(p)
		p.Step(1)
		synctest.Wait()
		if got := shown(p); got != n+1 || !p.Position().Paused {
			t.Errorf("a step shows %d intents, want %d; %+v", got, n+1, p.Position())
		}
		p.Step(-1)
		p.Step(-1)
		synctest.Wait()
		if got := shown(p); got != n-1 {
			t.Errorf("two steps back show %d intents, want %d", got, n-1)
		}
		for range 200 {
			p.Step(-1)
		}
		synctest.Wait()
		if pos := p.Position(); pos.Change != 1 || pos.At != 0 {
			t.Errorf("many steps back lead to %+v", pos)
		}
		for range 400 {
			p.Step(1)
		}
		synctest.Wait()
		if pos := p.Position(); !pos.Ended || shown(p) != 120 {
			t.Errorf("many steps on lead to %+v", pos)
		}
	})
}

func TestGoingBackGivesTheWholePicture(t *testing.T) {
	onPlayer(t, PlayerConfig{Paused: true, From: 100 * time.Second}, func(t *testing.T, p *Player) {
		before := p.Changes(0)
		p.SeekBy(-time.Minute)
		synctest.Wait()
		c := p.Changes(before.Version)
		if !c.Whole || len(c.Intents) < 40 || len(c.Intents) > 41 {
			t.Errorf("whole %v with %d intents", c.Whole, len(c.Intents))
		}
		p.SeekBy(10 * time.Second)
		synctest.Wait()
		on := p.Changes(c.Version)
		if on.Whole || len(on.Intents) != 10 {
			t.Errorf("going on: whole %v with %d intents, want 10", on.Whole, len(on.Intents))
		}
		if again := p.Changes(on.Version); again.Whole || len(again.Intents) != 0 {
			t.Errorf("nothing has changed: %+v", again)
		}
		p.Seek(-time.Hour)
		p.Seek(1000 * time.Hour)
		synctest.Wait()
		if pos := p.Position(); pos.At != pos.Length || shown(p) != 120 {
			t.Errorf("beyond the end: %+v", pos)
		}
	})
}

func TestTheEndStandsStillAndPauseBeginsAgain(t *testing.T) {
	onPlayer(t, PlayerConfig{Speed: 100}, func(t *testing.T, p *Player) {
		pass(10 * time.Second)
		if pos := p.Position(); !pos.Ended || pos.At != pos.Length || shown(p) != 120 {
			t.Errorf("at the end: %+v with %d intents", pos, shown(p))
		}
		p.Pause()
		p.Pause()
		pass(100 * time.Millisecond)
		if pos := p.Position(); pos.Ended || pos.At > 20*time.Second {
			t.Errorf("it does not begin again: %+v", pos)
		}
	})
}

func TestTheSpeedChangesWithoutAJump(t *testing.T) {
	onPlayer(t, PlayerConfig{}, func(t *testing.T, p *Player) {
		pass(10 * time.Second)
		p.ChangeSpeed(3)
		pass(2 * time.Second)
		if at := p.Position().At; at != 30*time.Second {
			t.Errorf("at %v, want 30s", at)
		}
		p.ChangeSpeed(50)
		p.ChangeSpeed(-50)
		synctest.Wait()
		if got := p.Position().Speed; got != Slowest {
			t.Errorf("speed %v", got)
		}
	})
}

func TestWaitReturnsWithTheNextChange(t *testing.T) {
	onPlayer(t, PlayerConfig{Paused: true}, func(t *testing.T, p *Player) {
		since := p.Changes(0).Version
		woken := make(chan error, 1)
		go func() { woken <- p.Wait(t.Context(), since) }()
		pass(time.Minute)
		select {
		case <-woken:
			t.Fatal("nothing has changed")
		default:
		}
		p.Step(1)
		if err := <-woken; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		synctest.Wait()
		if err := p.Wait(ctx, p.Changes(0).Version); err == nil {
			t.Error("the end of the context is no error")
		}
	})
}
