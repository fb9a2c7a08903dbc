// Command picture runs a program on an emulated terminal, presses keys, and writes the
// screen as an SVG. To make the pictures of the README again:
//
//	go generate ./ui/terminal/picture
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tillwatch/ui/terminal"
)

//go:generate go run . -size 150x42 -o board.svg -title "The board of a running demo" -steps "see:INTENTS wait:14s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 120x36 -o confirm.svg -title "The dialog that asks before an order is placed" -steps "see:INTENTS wait:9s keys:c see:Confirm wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o usage.svg -title "Who uses the quota of a running demo, over the last minute" -steps "see:INTENTS wait:40s keys:u see:SPENDERS wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o pulse.svg -title "The pulse of a running demo, over the last day" -steps "see:INTENTS wait:60s keys:Pw see:ANSWERS wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o pulse-light.svg -ground #ffffff -title "The same pulse in the light theme" -steps "see:INTENTS wait:60s keys:Pw see:ANSWERS wait:1s" -- go run tillwatch demo --seed 7 --theme light
//go:generate go run . -size 120x36 -o light.svg -ground #ffffff -title "The same board in the light theme" -steps "see:INTENTS wait:14s" -- go run tillwatch demo --seed 7 --theme light

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("picture", flag.ContinueOnError)
	size := flags.String("size", "120x36", "of the terminal, in cells")
	out := flags.String("o", "picture.svg", "file to write")
	title := flags.String("title", "tillwatch", "what the picture shows, for those who cannot see it")
	ground := flags.String("ground", "", "colour of the terminal's own background, as in #fdf6e3")
	script := flags.String("steps", "wait:5s", "what to do before the picture, separated by blanks: wait:5s, keys:TEXT, see:PATTERN, enter, esc, tab, up, down, left, right")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no program is named: give it after --")
	}
	width, height, err := parseSize(*size)
	if err != nil {
		return err
	}
	steps, err := parseSteps(*script)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "tillwatch-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	// The user's own settings do not belong in a picture.
	t, err := terminal.Start(ctx, terminal.Options{
		Width: width, Height: height, Emulate: true, Ground: *ground,
		Env: []string{"XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home},
	}, flags.Arg(0), flags.Args()[1:]...)
	if err != nil {
		return err
	}
	err = errors.Join(follow(ctx, t, steps), draw(t, *out, *title))
	_ = t.Close() // the exit code of a terminated program does not matter
	return err
}

func draw(t *terminal.Terminal, path, title string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(t.SVG(file, title), file.Close())
}

func parseSize(s string) (width, height int, err error) {
	w, h, _ := strings.Cut(s, "x")
	width, errWidth := strconv.Atoi(w)
	height, errHeight := strconv.Atoi(h)
	if errors.Join(errWidth, errHeight) != nil || width < 1 || height < 1 || width > 1000 || height > 1000 {
		return 0, 0, fmt.Errorf("size %q is not columns by rows, as in 120x36", s)
	}
	return width, height, nil
}

// step is one action of a person at the terminal.
type step func(ctx context.Context, t *terminal.Terminal) error

var keys = map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D"}

func parseSteps(script string) ([]step, error) {
	var steps []step
	for _, word := range strings.Fields(script) {
		what, argument, _ := strings.Cut(word, ":")
		switch {
		case what == "wait":
			pause, err := time.ParseDuration(argument)
			if err != nil {
				return nil, fmt.Errorf("step %q: %w", word, err)
			}
			steps = append(steps, wait(pause))
		case what == "keys" && argument != "":
			steps = append(steps, press(argument))
		case what == "see":
			pattern, err := regexp.Compile(argument)
			if err != nil {
				return nil, fmt.Errorf("step %q: %w", word, err)
			}
			steps = append(steps, func(ctx context.Context, t *terminal.Terminal) error {
				return t.WaitFor(ctx, pattern.MatchString)
			})
		case keys[what] != "":
			steps = append(steps, press(keys[what]))
		default:
			return nil, fmt.Errorf("unknown step %q: there are wait:5s, keys:TEXT, see:PATTERN, enter, esc, tab, up, down, left, right", word)
		}
	}
	return steps, nil
}

func wait(pause time.Duration) step {
	return func(ctx context.Context, _ *terminal.Terminal) error {
		select {
		case <-time.After(pause):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func press(keys string) step {
	return func(_ context.Context, t *terminal.Terminal) error { return t.Type(keys) }
}

func follow(ctx context.Context, t *terminal.Terminal, steps []step) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for _, do := range steps {
		if err := do(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
