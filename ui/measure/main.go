// Command measure runs the built program, and others beside it, on a terminal of
// a fixed size and reports how fast they draw, how fast they answer keys, and
// what they cost while nobody touches them. It needs Linux.
//
//	go run ./ui/measure
//	go run ./ui/measure -only watch -intents 100000 -events 1000000 -rate 10000
//
// It prints three tables. The first has programs at rest, which have nothing to do. The
// second has programs under the same work: a relay sends watch -load events a second,
// and the log viewers follow a file that gets a line for each of these events at the
// same moments; charts is watch with the use of the quota open, beside -requests observed
// requests a second. The third has the allocations of a frame of the dashboard, from its
// package's benchmarks: they cannot be measured from outside.
//
// The same is measured for the built program and for the others:
//
//   - first paint: from exec to the first cell that is not blank, in -starts starts;
//   - key: from writing it to the terminal to the next byte, for -presses presses at
//     random moments, which move a cursor there and back;
//   - cpu and wakeups: of all threads, from /proc: user and system time, and how
//     often one waited and was woken;
//   - bytes: everything that was written to the terminal;
//   - frames: groups of bytes with a pause of 3 ms before them;
//   - cells: those that look different after a frame than before it, on an emulated
//     screen;
//   - resident: the resident set of the process at the end of its rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	measurement
	program               string // built when empty
	only, under           string
	settle                time.Duration
	intents, events, rate int
	load, requests        int
	allocations           bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.IntVar(&o.width, "width", 200, "of the terminal, in cells")
	flags.IntVar(&o.height, "height", 60, "of the terminal, in cells")
	flags.IntVar(&o.starts, "starts", 11, "how often each program is started to time its first paint")
	flags.IntVar(&o.presses, "presses", 60, "how often a key is pressed")
	flags.DurationVar(&o.idle, "idle", 10*time.Second, "how long each program is left alone")
	flags.StringVar(&o.program, "program", "", "tillwatch to measure (default: it is built from here)")
	flags.StringVar(&o.only, "only", "demo,watch,htop,btop,lnav", "what to measure at rest; none: nothing")
	flags.StringVar(&o.under, "under", "watch,charts,lnav,tail", "what to measure under the same work; none: nothing")
	flags.IntVar(&o.load, "load", 10, "events a second of that work")
	flags.IntVar(&o.requests, "requests", 50, "observed requests a second beside that work, which charts draws")
	flags.BoolVar(&o.allocations, "allocations", true, "run the benchmarks that count allocations")
	flags.DurationVar(&o.settle, "settle", 75*time.Second, "how long watch gets to come to rest: until what it read at its start is over a minute old")
	flags.IntVar(&o.intents, "intents", 1000, "of the account that watch shows")
	flags.IntVar(&o.events, "events", 10_000, "in the relay's journal before watch is started")
	flags.IntVar(&o.rate, "rate", 0, "events a second while watch is measured")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.width < 1 || o.height < 1 || o.starts < 1 || o.presses < 1 || o.idle <= 0 || o.intents < 1 || o.events < 0 || o.rate < 0 || o.load < 1 || o.requests < 1 || o.settle < 0 {
		return o, errors.New("sizes, counts and times must be positive")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tillwatch-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.program == "" {
		o.program = filepath.Join(dir, "tillwatch")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.program, "tillwatch")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the program: %w", err)
		}
	}
	title := "at rest"
	if o.rate > 0 {
		title = fmt.Sprintf("watch %d/s, rest 0/s", o.rate)
	}
	resting := names(o.only)
	if len(resting) > 0 {
		o.heading(out, title)
	}
	for _, name := range resting {
		if err := o.atRest(ctx, out, dir, name); err != nil {
			return err
		}
	}
	if under := names(o.under); len(under) > 0 {
		o.heading(out, fmt.Sprintf("%d events a second", o.load))
		for _, name := range under {
			if err := o.underWork(ctx, out, dir, name); err != nil {
				return err
			}
		}
	}
	if o.allocations {
		return countAllocations(ctx, out)
	}
	return nil
}

func names(list string) []string {
	if list == "" || list == "none" {
		return nil
	}
	return strings.Split(list, ",")
}

func (o options) heading(out io.Writer, title string) {
	fmt.Fprintf(out, "%-21s %20s %16s %8s %10s %9s %12s %9s %12s %9s\n", title,
		"first paint p50 (max)", "key p50 / p95", "cpu", "wakeups/s", "bytes/s", "bytes/frame", "frames/s", "cells/frame", "resident")
}

func (f figures) print(out io.Writer, name string) {
	seconds := max(f.idle.For.Seconds(), 1e-9)
	frames := max(float64(f.idle.Frames), 1)
	fmt.Fprintf(out, "  %-19s %21s %16s %7.2f%% %10.1f %9.0f %12.0f %9.1f %12.1f %9s\n", name,
		fmt.Sprintf("%.1f ms (%.1f)", milliseconds(percentile(f.firstPaint, 50)), milliseconds(percentile(f.firstPaint, 100))),
		f.keysInWords(),
		100*f.cpu, f.wakeups, float64(f.idle.Bytes)/seconds, float64(f.idle.Bytes)/frames, float64(f.idle.Frames)/seconds, float64(f.idle.Cells)/frames,
		fmt.Sprintf("%.1f MB", float64(f.resident)/1e6))
}

func (f figures) keysInWords() string {
	if len(f.keys) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f / %.1f ms", milliseconds(percentile(f.keys, 50)), milliseconds(percentile(f.keys, 95)))
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
