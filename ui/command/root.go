// Package command is tillwatch's command line: it reads the settings, connects the
// rooms and prints their results for people and for pipes.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/config"
)

// Exit codes of every command.
const (
	exitDone           = 0
	exitFailed         = 1
	exitUsage          = 2
	exitNotConfirmable = 3
	exitUnknown        = 4
	exitAlready        = 5
)

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error that the user fixes on the command line or in the
// configuration.
func usage(err error) error { return config.Wrong(err) }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// Main runs the command in args and returns the exit code, for a process that then
// ends. The first interrupt ends the command in order, the second at once. An
// interrupt after the command's end does not change the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx := interruptible(context.Background())
	forceNoColor(args)
	// net/http logs what a server sends unasked. It may contain anything, and would be written
	// over the screen.
	log.SetOutput(io.Discard)
	if terminal, ok := stdout.(*os.File); ok {
		lipgloss.EnableLegacyWindowsANSI(terminal) // where consoles print colours as they are
	}
	return run(ctx, args, stdin, stdout, stderr)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	began := false // whether the command line was accepted
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := c.ValidateFlagGroups(); err != nil {
			return err
		}
		began = true
		return checkGiven(c.Flags())
	}
	failure := root.ExecuteContext(ctx)
	if failure == nil {
		return exitDone
	}
	said := inLines(failure)
	if !began {
		fmt.Fprintf(stderr, "tillwatch: %s\nTry --help.\n", said)
		return exitUsage
	}
	switch {
	case ctx.Err() != nil && errors.Is(failure, context.Canceled):
		said = strings.TrimSuffix("interrupted: "+strings.TrimSuffix(said, context.Canceled.Error()), ": ")
	case saysMore(failure) && !strings.Contains(said, "doctor says more"):
		said = explainable(errors.New(said)).Error()
	}
	fmt.Fprintf(stderr, "tillwatch: %s\n", said)
	return exitCodeFor(failure)
}

// exitCodeFor is the exit code for a command's error.
func exitCodeFor(err error) int {
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, new(*config.Error)):
		return exitUsage
	}
	return exitFailed
}

// version is the tag that the program was built from. A build from something else has
// the commit in it, or nothing.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// inLines is an error's text; several errors stand on lines of their own.
func inLines(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i, line := range lines {
		lines[i] = string(api.Scrub(line))
	}
	return strings.Join(lines, "\n  ")
}

// checkGiven refuses flags that were given an empty value, as of an unset variable: they would do
// nothing. An empty setting overrides the environment and the configuration file.
func checkGiven(flags *pflag.FlagSet) error {
	var all []error
	flags.Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && (!isSetting(f) || strings.HasSuffix(f.Name, "-file")) { // a file that is not named gives nothing
			all = append(all, fmt.Errorf("--%s is empty: give a value, or leave the flag out", f.Name))
		}
	})
	if len(all) == 0 {
		return nil
	}
	return usage(errors.Join(all...))
}

func newRoot() *cobra.Command {
	const others = "Other:"
	watch := newWatch()
	root := &cobra.Command{
		Use:   "tillwatch",
		Short: "Watch live checkouts of the Universal Checkout API",
		Long: "Watch live checkouts of the Universal Checkout API: which intents are on their way, which await " +
			"your confirmation, and how much of the account's quota is left.",
		Example: "tillwatch demo\ntillwatch watch --relay-url https://relay.example\ntillwatch status --json",
		RunE:    watch.RunE,
		Version: version(), SilenceUsage: true, SilenceErrors: true,
	}
	root.Flags().AddFlagSet(watch.Flags())
	root.SetFlagErrorFunc(refusedFlag)
	root.PersistentFlags().Bool(noColorFlag, false, "draw without colours, as with NO_COLOR=1")
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Watch:", []*cobra.Command{watch, newStatus(), newIntent(), newOrder(), newQuota(), newEvents(), newConfirm(),
			newReplay(), newThemes()}},
		{"Build and test:", []*cobra.Command{newAPI(), newSign(), newVerify(), newDemo(), newSimulate(), newForward(),
			newTrigger(), newCreate(), newPurchase(), newLookup(), newDoctor(), newWait()}},
		{"Serve:", []*cobra.Command{newRelay(), newTokens(), newProxy()}},
		{others, nil}, // cobra's own
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(c.OutOrStdout(), helpOf(c)) })
	prepare(root)
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, asked []string) error { // cobra's prints help whatever is asked of it
		about, rest, err := root.Find(asked)
		if err == nil && about.HasAvailableSubCommands() {
			err = checkArguments(about, rest)
		}
		return err
	}
	return root
}

// prepare gives a command and all below it what all have: completed flags, checked arguments, and help where
// there are only subcommands.
func prepare(c *cobra.Command) {
	completeFlags(c)
	if !c.Runnable() {
		c.Args, c.RunE = nil, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if c.Args == nil {
		c.Args = checkArguments
	}
	for _, below := range c.Commands() {
		prepare(below)
	}
}

// explainable says that tillwatch doctor explains an error further; nil stays nil.
func explainable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (tillwatch doctor says more)", err)
}

// saysMore reports whether tillwatch doctor explains any error of this kind further: refused keys and tokens,
// unreachable servers, and permissions.
func saysMore(err error) bool {
	var away *net.OpError
	if errors.As(err, &away) {
		return away.Op == "dial"
	}
	return errors.As(err, new(*relay.RefusedError)) || errors.Is(err, errUnauthorized) ||
		errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, fs.ErrPermission)
}
