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
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/terminal"
)

//go:generate go run . -size 150x42 -o board.svg -title "The board of a running demo" -steps "see:INTENTS wait:14s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 120x36 -o confirm.svg -title "The dialog that asks before an order is placed" -steps "see:INTENTS wait:9s keys:c see:Confirm wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o usage.svg -title "Who uses the quota of a running demo, over the last minute" -steps "see:INTENTS wait:40s keys:u see:SPENDERS wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o pulse.svg -title "The pulse of a running demo, over the last day" -steps "see:INTENTS wait:60s keys:Pw see:ANSWERS wait:1s" -- go run tillwatch demo --seed 7 --theme dark
//go:generate go run . -size 150x42 -o pulse-light.svg -light -title "The same pulse in the light theme" -steps "see:INTENTS wait:60s keys:Pw see:ANSWERS wait:1s" -- go run tillwatch demo --seed 7 --theme light
//go:generate go run . -size 120x36 -o light.svg -light -title "The same board in the light theme" -steps "see:INTENTS wait:14s" -- go run tillwatch demo --seed 7 --theme light

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
	light := flags.Bool("light", false, "make the terminal's own background white")
	script := flags.String("steps", "wait:5s", "what to do before the picture, separated by blanks: "+steps)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no program is named: give it after --")
	}
	var width, height int
	_, err := fmt.Sscanf(*size+"\n", "%dx%d\n", &width, &height)
	if err != nil || width < 1 || height < 1 || width > 1000 || height > 1000 {
		return fmt.Errorf("size %q is not columns by rows, as in 120x36", *size)
	}
	do, err := parseSteps(*script)
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
		Width: width, Height: height, Light: *light,
		Env: []string{"XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home},
	}, flags.Arg(0), flags.Args()[1:]...)
	if err != nil {
		return err
	}
	defer t.Close() // the exit code of a terminated program does not matter
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for _, do := range do {
		if err := do(ctx, t); err != nil {
			return err
		}
	}
	return os.WriteFile(*out, []byte(t.SVG(*title)), 0o644)
}

// steps are what a person does at the terminal.
const steps = "wait:5s, keys:TEXT, see:PATTERN"

type step func(ctx context.Context, t *terminal.Terminal) error

func parseSteps(script string) (all []step, err error) {
	for word := range strings.FieldsSeq(script) {
		what, argument, _ := strings.Cut(word, ":")
		var do step
		switch {
		case what == "wait":
			var pause time.Duration
			pause, err = time.ParseDuration(argument)
			do = func(ctx context.Context, _ *terminal.Terminal) error { return api.Sleep(ctx, pause) }
		case what == "keys" && argument != "":
			do = func(_ context.Context, t *terminal.Terminal) error { return t.Type(argument) }
		case what == "see":
			var pattern *regexp.Regexp
			pattern, err = regexp.Compile(argument)
			do = func(ctx context.Context, t *terminal.Terminal) error { return t.WaitFor(ctx, pattern.MatchString) }
		default:
			err = errors.New("there are " + steps)
		}
		if err != nil {
			return nil, fmt.Errorf("step %q: %w", word, err)
		}
		all = append(all, do)
	}
	return all, nil
}
