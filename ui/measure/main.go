// Command measure runs the built program, and others beside it, on a terminal of
// 200x60 cells and reports how fast they draw, how fast they answer keys, and
// what they cost while nobody touches them. It needs Linux.
//
//	go run ./ui/measure
//	go run ./ui/measure -only watch -intents 100000 -events 1000000 -rate 10000
//
// It prints two tables. The first has programs at rest: demo, watch on an account of its
// own, and others by their names, if they are installed. The second has watch while its
// relay sends 10 events a second.
//
//   - first paint: from exec to the first cell that is not blank, in -starts starts;
//   - key: from writing it to the terminal to the next byte, for 60 presses at random
//     moments, which move a cursor there and back;
//   - cpu and wakeups: of all threads, from /proc, in 10 s: user and system time, and how
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

const (
	usual = 4 * time.Second // how long programs get to come to rest
	load  = 10              // events a second of the second table
)

type options struct {
	measurement
	program               string // built when empty
	only, under           string
	settle                time.Duration
	intents, events, rate int
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
	o.measurement = measurement{width: 200, height: 60, presses: 60, idle: 10 * time.Second}
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.StringVar(&o.program, "program", "", "tillwatch to measure (default: it is built from here)")
	flags.IntVar(&o.intents, "intents", 1000, "of the account that watch shows")
	flags.IntVar(&o.events, "events", 10_000, "in the relay's journal before watch is started")
	flags.IntVar(&o.rate, "rate", 0, "events a second while watch is measured at rest")
	flags.DurationVar(&o.settle, "settle", 75*time.Second,
		"how long watch gets to come to rest: until what it read at its start is over a minute old")
	flags.IntVar(&o.starts, "starts", 11, "how often each program is started to time its first paint")
	flags.StringVar(&o.only, "only", "demo,watch,htop,btop", "what to measure at rest; none: nothing")
	flags.StringVar(&o.under, "under", "watch", "what to measure under events: watch, or none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.starts < 1 || o.intents < 1 || o.events < 0 || o.rate < 0 || o.settle < 0 {
		return o, errors.New("counts and times must be positive")
	}
	if o.under != "watch" && o.under != "none" && o.under != "" {
		return o, fmt.Errorf("there is nothing called %q to measure under events, only watch", o.under)
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
	if o.only != "" && o.only != "none" {
		title := "at rest"
		if o.rate > 0 {
			title = fmt.Sprintf("watch %d/s, rest 0/s", o.rate)
		}
		heading(out, title)
		for name := range strings.SplitSeq(o.only, ",") {
			if err := o.atRest(ctx, out, dir, name); err != nil {
				return err
			}
		}
	}
	if o.under == "watch" {
		heading(out, fmt.Sprintf("%d events a second", load))
		return o.watch(ctx, out, dir, load, 2*usual)
	}
	return nil
}

// atRest measures a program that is left alone, and prints its line.
func (o options) atRest(ctx context.Context, out io.Writer, dir, name string) error {
	s := subject{name: name, args: []string{name}, env: []string{"HOME=" + dir}, settle: usual}
	s.keys = [2]string{"\x1b[B", "\x1b[A"}
	switch name {
	case "watch":
		return o.watch(ctx, out, dir, o.rate, o.settle)
	case "demo":
		s.args, s.keys = []string{o.program, "demo", "--seed", "7"}, [2]string{"\t", "\x1b[Z"}
	}
	if _, err := exec.LookPath(s.args[0]); err != nil {
		fmt.Fprintf(out, "  %-19s is not installed\n", name)
		return nil
	}
	return o.line(ctx, out, s)
}

// watch measures a dashboard whose relay sends so many events a second, and prints its line.
func (o options) watch(ctx context.Context, out io.Writer, dir string, rate int, settle time.Duration) error {
	dir, err := os.MkdirTemp(dir, "watch-")
	if err != nil {
		return err
	}
	a, err := openAccount(ctx, filepath.Join(dir, "relay"), o.intents, o.events, rate)
	if err != nil {
		return fmt.Errorf("make the account: %w", err)
	}
	err = o.line(ctx, out, subject{
		name: "watch", settle: settle,
		args: []string{
			o.program, "watch", "--api-url", a.serviceURL, "--relay-url", a.relayURL, "--state-dir", filepath.Join(dir, "state"),
		},
		env:   []string{"TILLWATCH_API_KEY=measured", "TILLWATCH_RELAY_TOKEN=" + relayToken, "TILLWATCH_CONFIG="},
		keys:  [2]string{"\t", "\x1b[Z"}, // visible whatever the account holds
		ready: func(text string) bool { return strings.Contains(text, "live") },
	})
	return errors.Join(err, a.close())
}

// line measures a program and prints the figures.
func (o options) line(ctx context.Context, out io.Writer, s subject) error {
	f, err := o.run(ctx, s)
	if err != nil {
		return fmt.Errorf("measure %s: %w", s.name, err)
	}
	f.print(out, s.name)
	return nil
}
