// Command measure runs the built program, and others beside it, on a terminal of
// a fixed size and reports how fast they draw, how fast they answer keys, and
// what they cost while nobody touches them. It needs Linux.
//
//	go run ./ui/terminal/measure
//	go run ./ui/terminal/measure -only watch -intents 100000 -events 1000000 -rate 10000
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
	only                  string
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
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.IntVar(&o.width, "width", 200, "of the terminal, in cells")
	flags.IntVar(&o.height, "height", 60, "of the terminal, in cells")
	flags.IntVar(&o.starts, "starts", 11, "how often each program is started to time its first paint")
	flags.IntVar(&o.presses, "presses", 60, "how often a key is pressed")
	flags.DurationVar(&o.idle, "idle", 10*time.Second, "how long each program is left alone")
	flags.StringVar(&o.program, "program", "", "tillwatch to measure (default: it is built from here)")
	flags.StringVar(&o.only, "only", "demo,watch,htop,btop,lnav", "what to measure")
	flags.IntVar(&o.intents, "intents", 1000, "of the account that watch looks at")
	flags.IntVar(&o.events, "events", 10_000, "in the relay's journal before watch is started")
	flags.IntVar(&o.rate, "rate", 0, "events a second while watch is measured")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.width < 1 || o.height < 1 || o.starts < 1 || o.presses < 1 || o.idle <= 0 || o.intents < 1 || o.events < 0 || o.rate < 0 {
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
	fmt.Fprintf(out, "%-8s %22s %16s %8s %10s %9s %12s %12s %9s\n",
		"", "first paint p50 (max)", "key p50 / p95", "cpu", "wakeups/s", "bytes/s", "bytes/frame", "cells/frame", "resident")
	for name := range strings.SplitSeq(o.only, ",") {
		if err := o.measure(ctx, out, dir, name); err != nil {
			return err
		}
	}
	return nil
}

// measure prints the line of one program.
func (o options) measure(ctx context.Context, out io.Writer, dir, name string) error {
	s := subject{name: name, args: []string{name}, keys: [2]string{"\x1b[B", "\x1b[A"}, settle: 4 * time.Second}
	switch name {
	case "demo":
		s.args, s.keys = []string{o.program, "demo", "--seed", "7"}, [2]string{"\t", "\x1b[Z"}
	case "watch":
		a, err := openAccount(ctx, filepath.Join(dir, "relay"), o.intents, o.events, o.rate)
		if err != nil {
			return fmt.Errorf("make the account: %w", err)
		}
		defer a.close()
		s = a.watch(name, o.program, filepath.Join(dir, "state"))
	case "lnav":
		log := filepath.Join(dir, "day.log")
		if err := writeLog(log); err != nil {
			return err
		}
		s.args = []string{"lnav", log}
		s.env = []string{"HOME=" + dir}
	case "htop", "btop":
		s.env = []string{"HOME=" + dir}
	default:
		return fmt.Errorf("there is nothing called %q to measure", name)
	}
	if _, err := exec.LookPath(s.args[0]); err != nil {
		fmt.Fprintf(out, "%-8s is not installed\n", name)
		return nil
	}
	f, err := o.run(ctx, s)
	if err != nil {
		return err
	}
	if f.firstPaint, err = o.firstPaints(ctx, s); err != nil {
		return err
	}
	f.print(out, name)
	return nil
}

func (f figures) print(out io.Writer, name string) {
	seconds := max(f.idle.For.Seconds(), 1e-9)
	frames := max(float64(f.idle.Frames), 1)
	fmt.Fprintf(out, "%-8s %22s %16s %7.2f%% %10.1f %9.0f %12.0f %12.1f %9s\n", name,
		fmt.Sprintf("%.1f ms (%.1f)", milliseconds(percentile(f.firstPaint, 50)), milliseconds(percentile(f.firstPaint, 100))),
		fmt.Sprintf("%.1f / %.1f ms", milliseconds(percentile(f.keys, 50)), milliseconds(percentile(f.keys, 95))),
		100*f.cpu, f.wakeups, float64(f.idle.Bytes)/seconds, float64(f.idle.Bytes)/frames, float64(f.idle.Cells)/frames,
		fmt.Sprintf("%.1f MB", float64(f.resident)/1e6))
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// writeLog makes a log of a day for programs that show logs.
func writeLog(path string) error {
	var b strings.Builder
	at := time.Date(2026, 6, 18, 0, 0, 0, 0, time.UTC)
	for n := range 10_000 {
		fmt.Fprintf(&b, "%s INFO event %d of intent %s\n", at.Add(time.Duration(n)*8*time.Second).Format("2006-01-02 15:04:05"), n, intentID(n/10))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
