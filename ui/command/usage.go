package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/config"
	"tillwatch/ui/wording"
)

// refusedFlag describes a wrong flag in this program's words.
func refusedFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && strings.ContainsRune("0123456789", rune((unknown.GetSpecifiedShortnames() + "-")[0])):
		return fmt.Errorf("-%.60s: negative numbers are not allowed", unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		name := fmt.Sprintf("-%.1s", unknown.GetSpecifiedName())
		return fmt.Errorf("there is no flag %s%s", name, insteadOf(c.Name()+" "+name))
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		if instead := insteadOf(c.Name() + " " + name); instead != "" {
			return fmt.Errorf("there is no flag %s%s", name, instead)
		}
		return fmt.Errorf("there is no flag %.60s%s", name, wording.Suggest(name, names))
	case errors.As(err, &empty):
		return fmt.Errorf("--%s needs a value", empty.GetFlag().Name)
	case errors.As(err, &invalid):
		flag, value := invalid.GetFlag(), config.Shown(invalid.GetValue())
		must := map[string]string{"duration": config.DurationHint, "float64": "a number", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number", "bool": "true or false"}
		if must := must[flag.Value.Type()]; must != "" {
			return fmt.Errorf("--%s is %s; it must be %s", flag.Name, value, must)
		}
		return fmt.Errorf("--%s is %s: %w", flag.Name, value, invalid.Unwrap())
	}
	return err
}

// showHelp runs a command that only has subcommands.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// insteadOf returns the end of a sentence about something that a command no longer has: what
// replaces it. It returns "" for what the command never had.
func insteadOf(removed string) string {
	const waits = "tillwatch wait intent:ID state=… --for 10m waits for a state, tillwatch watch --plain prints every change"
	instead := map[string]string{
		"intent --follow": waits, "intent -f": waits, "intent --for": waits,
		"sign --curl":      "tillwatch trigger --body FILE --to URL signs and delivers a body",
		"trigger --repeat": "tillwatch events resend repeats a delivery",
		"replay --loop":    "space plays again from the beginning",
		"wait shipment":    "tillwatch wait event type=shipment.updated intent=ID waits for the next event of a parcel",
		"wait alert":       "set alert_command in tillwatch.toml",
	}[removed]
	if instead == "" {
		return ""
	}
	return " any more: " + instead
}

// noArguments refuses arguments. On a command with subcommands, an argument counts as
// a subcommand's name.
func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasAvailableSubCommands():
		var names []string
		for _, inner := range c.Commands() {
			if inner.IsAvailableCommand() {
				names = append(names, inner.Name())
			}
		}
		return fmt.Errorf("there is no command %.60q%s", args[0], wording.Suggest(args[0], names))
	}
	return fmt.Errorf("%s takes no arguments: leave out %.60q", c.CommandPath(), strings.Join(args, " "))
}

// oneArgument requires the one argument that a command's use names.
func oneArgument(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	_, name, _ := strings.Cut(c.Use, " ")
	return fmt.Errorf("give one %s: %s %s", name, c.CommandPath(), name)
}

// argument requires one argument: if there is none, the error is missing, and if there are
// several, extra. Without missing, the argument is optional.
func argument(missing, extra string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case missing != "" && (len(args) == 0 || args[0] == ""):
			return errors.New(missing)
		case len(args) > 1:
			return errors.New(extra)
		}
		return nil
	}
}

// validIDs refuses arguments that cannot be ids.
func validIDs(_ *cobra.Command, args []string) error {
	for _, id := range args {
		if err := checkID(id); err != nil {
			return err
		}
	}
	return nil
}

// shortenTimes writes default times in help as people do. The library leaves out those of
// flags that are off by default.
func shortenTimes(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if usual, err := time.ParseDuration(f.DefValue); err == nil && f.Value.Type() == "duration" && usual != 0 {
			f.DefValue = api.Span(usual)
		}
	})
}

// shownExample is how long a line of an example may be beside its indentation.
const shownExample = 72

// foldExamples indents examples, and breaks their long lines in the shell's way, before a
// flag or another command, for a command and its subcommands.
func foldExamples(c *cobra.Command) {
	var lines []string
	for line := range strings.SplitSeq(c.Example, "\n") {
		from := len(lines)
		for len(line) > shownExample {
			at := 0
			for _, before := range []string{" -", " |", " &&"} {
				at = max(at, strings.LastIndex(line[:shownExample], before))
			}
			if at == 0 {
				break
			}
			lines, line = append(lines, line[:at]+" \\"), line[at+1:]
		}
		lines = append(lines, line)
		for i := range lines[from:] {
			lines[from+i] = strings.Repeat("  ", 1+min(i, 1)) + lines[from+i]
		}
	}
	c.Example = strings.Join(lines, "\n")
	for _, inner := range c.Commands() {
		foldExamples(inner)
	}
}

// breakAtSpaces breaks the lines of the help of all commands.
func breakAtSpaces(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long = atSpaces(cmp.Or(c.Long, c.Short), helpWidth())
		help(c, args)
	})
}

// helpWidth is the width of the help's text.
func helpWidth() int {
	const most = 120
	width, _, err := term.GetSize(os.Stdout.Fd())
	if err != nil {
		width = most
	}
	return min(width, most)
}

// atSpaces breaks text at spaces into lines of at most width cells. A word that is wider is broken.
func atSpaces(text string, width int) string {
	const hyphen, whole = "-", "\u2011" // at which nothing is broken
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, hyphen, whole), width, ""), whole, hyphen)
}
