package command

import (
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/session"
)

type screenOptions struct {
	kept          bool // the screen's arrangement is saved
	words         io.Writer
	noMouse       bool
	noColor       bool
	at            string // the position to start at
	plain         bool   // print lines instead of drawing
	json          bool   // with plain: JSON lines
	record        string // the file to record to; "": none
	files         string // the folder of exports and recordings; "": the state folder
	width, height int    // if the output is not a terminal with a size
}

func newWatch() *cobra.Command {
	var o screenOptions
	command := &cobra.Command{
		Use:   "watch",
		Short: "Open the dashboard on an account (the default command)",
		Long: "Open the dashboard on an account. The API key comes from TILLWATCH_API_KEY, the relay's token from TILLWATCH_RELAY_TOKEN, " +
			"each also from a file named by …_FILE, or both from tillwatch.toml.",
		RunE: func(c *cobra.Command, _ []string) error { return watch(c, o) },
	}
	accountFlags(command.Flags(), "allow_confirm", "proxy_listen", "spender_header")
	screenFlags(command.Flags(), &o)
	command.Flags().BoolVar(&o.json, "json", false, "print the picture and its changes as JSON lines, until the reader leaves or ctrl-c (api/account/form/FORMAT.md)")
	return command
}

// watch opens the dashboard, or prints lines if nothing is to be drawn.
func watch(c *cobra.Command, o screenOptions) error {
	s, err := loadSettings(c.Context(), c.Flags())
	if err != nil {
		return err
	}
	if err := checkTheme(s); err != nil {
		return err
	}
	if o.json && o.plain {
		return usagef("choose one of --json and --plain: both print lines")
	}
	o.plain = o.plain || o.json || fallsBack(c)
	if err := checkStart(s, c, o); err != nil {
		return err
	}
	stdin := c.InOrStdin()
	if !o.plain {
		stdin = nil
	}
	if err := readWatchIDs(&s, c.Context(), stdin); err != nil {
		return err
	}
	o.noColor, o.kept, o.words = colourless(c), true, c.ErrOrStderr()
	if !o.plain {
		if err := requireTerminal(c, "tillwatch watch --json, tillwatch status --json, or --plain"); err != nil {
			return err
		}
	}
	current, err := session.Open(s, session.Options{Memory: session.Keeps})
	if err != nil {
		return err
	}
	defer current.Close()
	if err := addConfiguredProxy(current, !o.plain, c.ErrOrStderr()); err != nil {
		return err
	}
	ctx, release := untilHangup(c.Context())
	defer release()
	return show(ctx, current, o, c.InOrStdin(), c.OutOrStdout())
}

func screenFlags(flags *pflag.FlagSet, o *screenOptions) {
	lookFlags(flags, o)
	flags.StringVar(&o.record, "record", "", "record to a new file that only you can read, for tillwatch replay; without keys, tokens and buyers")
	flags.StringVar(&o.at, "at", "", "what to open at the start: intent:ID, shipment:ID, event:ID, order:REFERENCE, filter:TEXT, or a pane such as failures; Y copies it")
	config.AddSettingFlags(flags, "notify", "no_open", "filter")
}

// lookFlags control how things are shown.
func lookFlags(flags *pflag.FlagSet, o *screenOptions) {
	config.AddSettingFlags(flags, "theme")
	flags.BoolVar(&o.plain, "plain", false, "print a line for each change instead of drawing, for screen readers and logs")
	flags.BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
}

// checkStart refuses a meaningless filter or start position, and either if nothing is drawn.
func checkStart(s settings, c *cobra.Command, o screenOptions) error {
	for _, flag := range []string{"filter", "at"} {
		if o.plain && c.Flags().Changed(flag) {
			return usagef("there is no screen: leave out --%s", flag)
		}
	}
	if wrong := dashboard.WrongPosition(o.at); o.at != "" && wrong != "" {
		return usagef("--at: %s", wrong)
	}
	if wrong := dashboard.WrongFilter(s.Filter); wrong != "" {
		return usagef("filter is %s: %s", config.Shown(s.Filter), wrong)
	}
	return nil
}

// requireTerminal refuses to draw into a pipe or a file and names an alternative.
func requireTerminal(c *cobra.Command, instead string) error {
	for _, stream := range []struct {
		name string
		file any
	}{{"stdin", c.InOrStdin()}, {"stdout", c.OutOrStdout()}} {
		if file, ok := stream.file.(*os.File); !ok || !term.IsTerminal(file.Fd()) {
			return usagef("%s is not a terminal, so there is nothing to draw on: use %s", stream.name, instead)
		}
	}
	return nil
}

// fallsBack reports whether the terminal cannot be drawn on, and says what happens instead.
func fallsBack(c *cobra.Command) bool {
	if os.Getenv("TERM") != "dumb" || requireTerminal(c, "") != nil {
		return false
	}
	fmt.Fprintln(c.ErrOrStderr(), "tillwatch: TERM=dumb: nothing can be drawn on this terminal, so a line is printed for each change, as with --plain")
	return true
}
