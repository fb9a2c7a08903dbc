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
	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
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
	case saysMore(failure):
		said += " (tillwatch doctor says more)"
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
	watch := newWatch()
	root := &cobra.Command{
		Use:   "tillwatch",
		Short: "Watch live checkouts of the Universal Checkout API",
		Long: "Watch live checkouts of the Universal Checkout API: which intents are on their way, which await " +
			"your confirmation, and how much of the account's quota is left.",
		Example: "tillwatch demo\ntillwatch watch --relay-url https://relay.example\ntillwatch status --json",
		Args:    noArguments,
		RunE:    watch.RunE,
		Version: version(), SilenceUsage: true, SilenceErrors: true,
	}
	root.Flags().AddFlagSet(watch.Flags())
	root.SetFlagErrorFunc(refusedFlag)
	root.PersistentFlags().Bool(noColorFlag, false, "draw without colours, as with NO_COLOR=1")
	for _, g := range commandGroups(watch) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	completeFlags(root)
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	root.AddCommand(newMan())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(c.OutOrStdout(), helpOf(c)) })
	for _, c := range root.Commands() {
		switch c.Name() { // cobra's own print help whatever is asked of them
		case "completion":
			c.Args, c.RunE = noArguments, showHelp
		case "help":
			c.Args = func(_ *cobra.Command, asked []string) error {
				about, rest, err := root.Find(asked)
				if err == nil && about.HasAvailableSubCommands() {
					err = noArguments(about, rest)
				}
				return err
			}
		}
	}
	return root
}

// newMan makes the command that prints the manual page for packages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Hidden: true, Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			page, err := mango.NewManPage(1, c.Root())
			if err != nil {
				return fmt.Errorf("writing the manual page: %w", err)
			}
			_, err = io.WriteString(c.OutOrStdout(), page.Build(roff.NewDocument()))
			return err
		},
	}
}

// others is the heading of cobra's own commands.
const others = "Other:"

// commandGroup is a heading of the help with its commands.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

func commandGroups(watch *cobra.Command) []commandGroup {
	return []commandGroup{
		{"Watch:", []*cobra.Command{
			watch,
			newStatus(),
			newIntent(),
			newOrder(),
			newQuota(),
			newEvents(),
			newConfirm(),
			newReplay(),
			newThemes(),
		}},
		{"Build and test:", []*cobra.Command{
			newAPI(),
			newSign(),
			newVerify(),
			newDemo(),
			newSimulate(),
			newForward(),
			newTrigger(),
			newCreate(),
			newPurchase(),
			newLookup(),
			newDoctor(),
			newWait(),
		}},
		{"Serve:", []*cobra.Command{
			newRelay(),
			newTokens(),
			newProxy(),
		}},
		{others, nil},
	}
}

// explainableError is an error that tillwatch doctor explains further.
type explainableError struct{ error }

func (e explainableError) Unwrap() error { return e.error }

// explainable marks an error as one that tillwatch doctor explains further; nil stays
// nil.
func explainable(err error) error {
	if err == nil {
		return nil
	}
	return explainableError{err}
}

// saysMore reports whether tillwatch doctor explains an error further: errors of
// settings, refused keys and tokens, unreachable servers, and permissions.
func saysMore(err error) bool {
	var marked explainableError
	var refused *relay.RefusedError
	var away *net.OpError
	switch {
	case errors.As(err, &marked), errors.As(err, &refused), errors.Is(err, errUnauthorized),
		errors.Is(err, api.ErrUnauthorized), errors.Is(err, api.ErrForbidden):
		return true
	case errors.As(err, &away):
		return away.Op == "dial"
	}
	return errors.Is(err, fs.ErrPermission)
}
