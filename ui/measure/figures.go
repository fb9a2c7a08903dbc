package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/ui/terminal"
)

// subject is a program to measure.
type subject struct {
	name   string
	args   []string      // the program first
	env    []string      // beside the process's own
	keys   [2]string     // move a cursor there and back; "": it takes no keys
	settle time.Duration // from the start until it is at rest
	ready  func(text string) bool
}

// figures are the results of a subject.
type figures struct {
	firstPaint []time.Duration // from exec to the first cell that is not blank
	keys       []time.Duration // from a key to the next byte
	idle       terminal.Drawn
	cpu        float64 // share of a core
	wakeups    float64 // a second
	resident   int64   // bytes
}

// measurement is how long a subject is measured.
type measurement struct {
	width, height int
	starts        int
	presses       int
	idle          time.Duration
}

func (m measurement) options(s subject, emulate bool) terminal.Options {
	return terminal.Options{Width: m.width, Height: m.height, Env: s.env, Emulate: emulate}
}

// firstPaints starts the subject again and again. The emulation draws afterwards, so
// that it takes no time from the subject.
func (m measurement) firstPaints(ctx context.Context, s subject) ([]time.Duration, error) {
	var all []time.Duration
	for range m.starts {
		t, err := terminal.Start(ctx, m.options(s, true), s.args[0], s.args[1:]...)
		if err != nil {
			return nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
		err = t.WaitFor(waiting, terminal.Painted)
		cancel()
		chunks, _ := t.Chunks()
		_ = t.Close()
		if err != nil {
			return nil, fmt.Errorf("%s painted nothing: %w", s.name, err)
		}
		at, _ := terminal.FirstPaint(chunks, m.width, m.height)
		all = append(all, at)
	}
	slices.Sort(all)
	return all, nil
}

// run starts a subject once and measures it.
func (m measurement) run(ctx context.Context, s subject) (figures, error) {
	t, err := terminal.Start(ctx, m.options(s, true), s.args[0], s.args[1:]...)
	if err != nil {
		return figures{}, err
	}
	f, err := m.look(ctx, s, t)
	_ = t.Close()
	if err != nil {
		return f, fmt.Errorf("measure %s: %w", s.name, err)
	}
	return f, nil
}

func (m measurement) look(ctx context.Context, s subject, t *terminal.Terminal) (figures, error) {
	var f figures
	if s.ready != nil {
		waiting, cancel := context.WithTimeout(ctx, 2*time.Minute)
		err := t.WaitFor(waiting, s.ready)
		cancel()
		if err != nil {
			return f, fmt.Errorf("it was never ready: %w; it shows:\n%s", err, t.Text())
		}
	}
	if err := api.Sleep(ctx, s.settle); err != nil {
		return f, err
	}
	if err := m.leaveAlone(ctx, t, &f); err != nil {
		return f, err
	}
	return f, m.pressKeys(ctx, s, t, &f)
}

// leaveAlone measures the program while nobody touches it.
func (m measurement) leaveAlone(ctx context.Context, t *terminal.Terminal, f *figures) error {
	before, err := readUsage(t.Process())
	if err != nil {
		return err
	}
	from := t.Now()
	if err := api.Sleep(ctx, m.idle); err != nil {
		return err
	}
	after, err := readUsage(t.Process())
	if err != nil {
		return err
	}
	took := t.Now() - from
	chunks, _ := t.Chunks()
	f.idle = terminal.Count(chunks, from, m.width, m.height)
	f.cpu = (after.cpu - before.cpu).Seconds() / took.Seconds()
	f.wakeups = float64(after.switches-before.switches) / took.Seconds()
	f.resident = after.resident
	return nil
}

// pressKeys presses a key at random moments, as a person does, and waits for the
// next byte.
func (m measurement) pressKeys(ctx context.Context, s subject, t *terminal.Terminal, f *figures) error {
	if s.keys[0] == "" {
		return nil
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range m.presses {
		if err := api.Sleep(ctx, 60*time.Millisecond+time.Duration(random.IntN(80))*time.Millisecond); err != nil {
			return err
		}
		answered, err := pressKey(ctx, t, s.keys[i%2])
		if err != nil {
			return err
		}
		f.keys = append(f.keys, answered)
	}
	slices.Sort(f.keys)
	return nil
}

// pressKey returns how long the next byte took.
func pressKey(ctx context.Context, t *terminal.Terminal, key string) (time.Duration, error) {
	giveUp := time.NewTimer(5 * time.Second)
	defer giveUp.Stop()
	before, _ := t.Chunks()
	pressed := t.Now()
	if err := t.Type(key); err != nil {
		return 0, err
	}
	for {
		chunks, more := t.Chunks()
		for _, c := range chunks[len(before):] {
			if c.At > pressed {
				return c.At - pressed, nil
			}
		}
		select {
		case <-more:
		case <-giveUp.C:
			return 0, fmt.Errorf("the key %q was not answered within 5 s; it shows:\n%s", key, t.Text())
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// percentile of sorted durations.
func percentile(sorted []time.Duration, n int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*n/100]
}
