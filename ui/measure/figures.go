package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	keys   [2]string     // move a cursor there and back
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
	resident   int     // bytes
}

// measurement is how long a subject is measured.
type measurement struct {
	width, height int
	starts        int
	presses       int
	idle          time.Duration
}

// start starts a subject, and waits until it is ready.
func (m measurement) start(
	ctx context.Context, s subject, ready func(text string) bool, within time.Duration,
) (*terminal.Terminal, error) {
	o := terminal.Options{Width: m.width, Height: m.height, Env: s.env}
	t, err := terminal.Start(ctx, o, s.args[0], s.args[1:]...)
	if err != nil || ready == nil {
		return t, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := t.WaitFor(ctx, ready); err != nil {
		err = fmt.Errorf("it was never ready: %w; it shows:\n%s", err, t.Text())
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// run measures a subject: at rest, under keys, and again and again at its start.
func (m measurement) run(ctx context.Context, s subject) (f figures, err error) {
	t, err := m.start(ctx, s, s.ready, 2*time.Minute)
	if err != nil {
		return f, err
	}
	defer t.Close()
	if err := api.Sleep(ctx, s.settle); err != nil {
		return f, err
	}
	if err := m.leaveAlone(ctx, t, &f); err != nil {
		return f, err
	}
	if err := m.pressKeys(ctx, s, t, &f); err != nil {
		return f, err
	}
	for range m.starts {
		t, err := m.start(ctx, s, terminal.Painted, 10*time.Second)
		if err != nil {
			return f, err
		}
		f.firstPaint = append(f.firstPaint, t.FirstPaint())
		_ = t.Close() // the exit code of a terminated program does not matter
	}
	slices.Sort(f.firstPaint)
	return f, nil
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
	took := (t.Now() - from).Seconds()
	chunks, _ := t.Chunks()
	f.idle = terminal.Count(chunks, from, m.width, m.height)
	f.cpu = (after.cpu - before.cpu).Seconds() / took
	f.wakeups = float64(after.switches-before.switches) / took
	f.resident = after.resident
	return nil
}

// pressKeys presses a key at random moments, as a person does, and waits for the
// next byte.
func (m measurement) pressKeys(ctx context.Context, s subject, t *terminal.Terminal, f *figures) error {
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
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
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
		case <-ctx.Done():
			return 0, fmt.Errorf("the key %q was not answered: %w; it shows:\n%s", key, ctx.Err(), t.Text())
		}
	}
}

// percentile of sorted durations, in milliseconds.
func percentile(sorted []time.Duration, n int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*n/100].Seconds() * 1000
}

func heading(out io.Writer, title string) {
	fmt.Fprintf(out, "%-21s %20s %16s %8s %10s %9s %12s %9s %12s %9s\n", title, "first paint p50 (max)", "key p50 / p95",
		"cpu", "wakeups/s", "bytes/s", "bytes/frame", "frames/s", "cells/frame", "resident")
}

func (f figures) print(out io.Writer, name string) {
	seconds, frames := max(f.idle.For.Seconds(), 1e-9), max(float64(f.idle.Frames), 1)
	bytes := float64(f.idle.Bytes)
	fmt.Fprintf(out, "  %-19s %21s %16s %7.2f%% %10.1f %9.0f %12.0f %9.1f %12.1f %9s\n", name,
		fmt.Sprintf("%.1f ms (%.1f)", percentile(f.firstPaint, 50), percentile(f.firstPaint, 100)),
		fmt.Sprintf("%.1f / %.1f ms", percentile(f.keys, 50), percentile(f.keys, 95)),
		100*f.cpu, f.wakeups, bytes/seconds, bytes/frames, float64(f.idle.Frames)/seconds, float64(f.idle.Cells)/frames,
		fmt.Sprintf("%.1f MB", float64(f.resident)/1e6))
}
