package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
)

// task is what a command does. It returns what it found and what went wrong, of which there may
// be both, and never asks whether text or JSON is wanted:
//
//	func newThing() *cobra.Command {
//		var o thingOptions
//		c := &cobra.Command{
//			Use: "thing ID", Short: "Print a thing",
//			RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
//				return readThing(ctx, s, o, api.ScrubID(args[0]))
//			}),
//		}
//		config.AddFlags(c.Flags(), "api_url")
//		jsonFlag(c.Flags(), "print one JSON object")
//		return c
//	}
//
// A command that prints as it goes hands each report to [streams.print] and returns none. What is
// said beside the data goes through [streams.say].
type task func(ctx context.Context, s settings, args []string, std streams) (report, error)

// report is what a command found: a struct whose JSON tags are a promise, since fields are added,
// never renamed, and its text for people, of whole lines. Most texts are a [table] or a [sheet].
type report interface{ text() string }

// listing is a report of several things: each is a line of JSON, all are one text.
type listing struct {
	things []any
	whole  string
}

func (l listing) text() string { return l.whole }

// listOf is the report of these things, whose text is given.
func listOf[T any](things []T, text string) listing {
	l := listing{whole: text}
	for _, thing := range things {
		l.things = append(l.things, thing)
	}
	return l
}

// streams are a command's standard streams.
type streams struct {
	in    io.Reader
	out   io.Writer // data
	words io.Writer // everything else
	json  bool      // whether data is printed as JSON
}

func streamsOf(c *cobra.Command) streams {
	asJSON, _ := c.Flags().GetBool("json") // false for a command without the flag
	return streams{in: c.InOrStdin(), out: c.OutOrStdout(), words: c.ErrOrStderr(), json: asJSON}
}

// jsonFlag adds --json.
func jsonFlag(flags *pflag.FlagSet, help string) { flags.Bool("json", false, help) }

// print prints a report as text, or as JSON: one object a line. Nothing is printed for nil.
func (s streams) print(found report) error {
	if found == nil {
		return nil
	}
	if !s.json {
		_, err := io.WriteString(s.out, found.text())
		return err
	}
	things := []any{found}
	if several, ok := found.(listing); ok {
		things = several.things
	}
	encoder := json.NewEncoder(s.out)
	for _, thing := range things {
		if err := encoder.Encode(thing); err != nil {
			return err
		}
	}
	return nil
}

// say writes a line to stderr.
func (s streams) say(format string, args ...any) {
	fmt.Fprintf(s.words, "tillwatch: %s\n", api.Scrub(fmt.Sprintf(format, args...)))
}

// reporting runs a task with the settings from flags, environment and configuration file, and
// prints what it reports, also if it fails. A reader of stdout that has left is no failure.
func reporting(do task) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		s, err := loadSettings(c.Context(), c.Flags())
		if err != nil {
			return err
		}
		std := streamsOf(c)
		found, failed := do(c.Context(), s, args, std)
		if err = std.print(found); failed != nil || readerLeft(err) {
			return failed
		}
		return err
	}
}
