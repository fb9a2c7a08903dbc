package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// usual is how long programs get to settle.
const usual = 4 * time.Second

// atRest measures a program that is left alone, and prints its line.
func (o options) atRest(ctx context.Context, out io.Writer, dir, name string) error {
	s := subject{name: name, args: []string{name}, keys: [2]string{"\x1b[B", "\x1b[A"}, settle: usual}
	switch name {
	case "demo":
		s.args, s.keys = []string{o.program, "demo", "--seed", "7"}, [2]string{"\t", "\x1b[Z"}
	case "watch":
		a, err := openAccount(ctx, filepath.Join(dir, "relay"), o.intents, o.events, o.rate, nil)
		if err != nil {
			return fmt.Errorf("make the account: %w", err)
		}
		defer a.close()
		s = a.watch(name, o.program, filepath.Join(dir, "state"))
		s.settle = o.settle
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
		return fmt.Errorf("there is nothing called %q to measure at rest", name)
	}
	return o.line(ctx, out, s)
}

// underWork measures a program that shows o.load events a second, and prints its line.
func (o options) underWork(ctx context.Context, out io.Writer, dir, name string) (err error) {
	dir, err = os.MkdirTemp(dir, "under-")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "events.log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	a, err := openAccount(ctx, filepath.Join(dir, "relay"), o.intents, o.events, o.load, log)
	if err != nil {
		return fmt.Errorf("make the account: %w", err)
	}
	defer a.close()
	s := subject{name: name, args: []string{name, log.Name()}, env: []string{"HOME=" + dir}, settle: usual}
	switch name {
	case "watch":
		s = a.watch(name, o.program, filepath.Join(dir, "state"))
		s.settle = 2 * usual
	case "charts":
		if err := a.observed(o.requests); err != nil {
			return fmt.Errorf("observe the account's requests: %w", err)
		}
		s = a.watch(name, o.program, filepath.Join(dir, "state"), "--at", "quota")
		s.settle = o.settle
	case "lnav":
		s.keys = [2]string{"\x1b[A", "\x1b[B"}
	case "tail":
		s.args = []string{"tail", "-n", "60", "-f", log.Name()}
	default:
		return fmt.Errorf("there is nothing called %q to measure under work", name)
	}
	return o.line(ctx, out, s)
}

// line measures a program, if it is installed, and prints the figures.
func (o options) line(ctx context.Context, out io.Writer, s subject) error {
	if _, err := exec.LookPath(s.args[0]); err != nil {
		fmt.Fprintf(out, "  %-19s is not installed\n", s.name)
		return nil
	}
	f, err := o.run(ctx, s)
	if err != nil {
		return err
	}
	if f.firstPaint, err = o.firstPaints(ctx, s); err != nil {
		return err
	}
	f.print(out, s.name)
	return nil
}

// countAllocations runs the benchmarks of a frame and prints their results.
func countAllocations(ctx context.Context, out io.Writer) error {
	bench := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark(View|Frame)", "-benchmem", "tillwatch/ui/dashboard")
	said, err := bench.Output()
	if err != nil {
		return fmt.Errorf("count allocations: %w:\n%s", err, said)
	}
	fmt.Fprintln(out, "a frame of the dashboard, 200x60")
	printBenchmarks(out, string(said))
	return nil
}

// printBenchmarks prints the benchmarks in the output of go test, without their number
// of runs.
func printBenchmarks(out io.Writer, said string) {
	for line := range strings.Lines(said) {
		result, ok := strings.CutPrefix(line, "Benchmark")
		fields := strings.Fields(result)
		if ok && len(fields) > 2 {
			fmt.Fprintf(out, "  %-19s %s\n", fields[0], strings.Join(fields[2:], " "))
		}
	}
}

// writeLog writes a day's log for log viewers.
func writeLog(path string) error {
	var b strings.Builder
	at := time.Date(2026, 6, 18, 0, 0, 0, 0, time.UTC)
	for n := range 10_000 {
		fmt.Fprintf(&b, "%s INFO event %d of intent %s\n", at.Add(time.Duration(n)*8*time.Second).Format("2006-01-02 15:04:05"), n, intentID(n/10))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
