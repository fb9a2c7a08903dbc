package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// helpOf is the help of a command: its use first, then what it does, and its own flags before those
// of settings, which many commands share. It fits in 80 columns, whatever the terminal.
func helpOf(c *cobra.Command) string {
	var out strings.Builder
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&out, "\n%s\n  %s\n", title, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	fmt.Fprintf(&out, "Usage: %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "       %s COMMAND\n", c.CommandPath())
	}
	out.WriteString("\n")
	for line := range strings.SplitSeq(cmp.Or(c.Long, c.Short), "\n") {
		out.WriteString(hanging(line, sheetWidth))
	}
	section("Examples:", c.Example)
	for _, group := range append(c.Groups(), &cobra.Group{Title: "Commands:"}) {
		var commands []fact
		for _, inner := range c.Commands() {
			if inner.GroupID == group.ID && inner.IsAvailableCommand() {
				commands = append(commands, fact{inner.Name(), inner.Short})
			}
		}
		section(group.Title, sheet(commands...))
	}
	own, settings := flagsOf(c)
	section("Flags:", sheet(own...))
	section("Settings, which TILLWATCH_… and tillwatch.toml give as well:", sheet(settings...))
	return out.String()
}

// hanging breaks a line below its last column: what follows two blanks.
func hanging(line string, width int) string {
	at := 0
	if blanks := strings.LastIndex(line, "  "); blanks >= 0 {
		at = blanks + 2
	}
	text := atSpaces(line[at:], max(width-ansi.StringWidth(line[:at]), 20))
	return line[:at] + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+strings.Repeat(" ", at)) + "\n"
}

// flagsOf describes a command's flags: its own, and those of settings.
func flagsOf(c *cobra.Command) (own, settings []fact) {
	c.InitDefaultHelpFlag()
	describe := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, help := pflag.UnquoteUsage(f)
		if kind == "bool" {
			kind = ""
		}
		label := fmt.Sprintf("--%s %s", f.Name, kind)
		if f.Shorthand != "" {
			label = fmt.Sprintf("-%s, %s", f.Shorthand, label)
		}
		value := f.DefValue
		if span, err := time.ParseDuration(value); err == nil && f.Value.Type() == "duration" && span > 0 {
			value = api.Span(span)
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, value) {
			help += " (default " + value + ")"
		}
		described := fact{strings.TrimSpace(label), strings.ReplaceAll(help, "\n", " ")}
		if isSetting(f) {
			settings = append(settings, described)
			return
		}
		own = append(own, described)
	}
	c.LocalFlags().VisitAll(describe)
	c.InheritedFlags().VisitAll(describe)
	return own, settings
}

// isSetting reports whether a flag gives a setting, or says where settings are read.
func isSetting(f *pflag.Flag) bool {
	key := strings.ReplaceAll(f.Name, "-", "_")
	return f.Name == noColorFlag || key == "config" || key == "profile" || slices.Contains(config.Keys(), key)
}

// refusedFlag describes a wrong flag in this program's words.
func refusedFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := "-" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("there is no flag %.60s", name)
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fmt.Errorf("there is no flag -%.60s%s", name, wording.Suggest("-"+name, names))
	case errors.As(err, &invalid):
		flag, value := invalid.GetFlag(), config.Shown(invalid.GetValue())
		must := map[string]string{"duration": "a time with its unit, such as 90s or 45m", "float64": "a number", "bool": "true or false",
			"int": "a whole number", "int64": "a whole number", "uint64": "a whole number"}
		if must := must[flag.Value.Type()]; must != "" {
			return fmt.Errorf("--%s is %s; it must be %s", flag.Name, value, must)
		}
		return fmt.Errorf("--%s is %s: %w", flag.Name, value, invalid.Unwrap())
	}
	return err
}

// checkArguments refuses arguments that a command's use does not name: NAME stands for one, NAME… for several, and
// [NAME] may be left out. On a command with subcommands, an argument counts as the name of one.
func checkArguments(c *cobra.Command, args []string) error {
	_, use, _ := strings.Cut(c.Use, " ")
	names, _, _ := strings.Cut(use, "--")
	names = strings.TrimRight(names, " [")
	least, most := 0, 0
	for name := range strings.FieldsSeq(names) {
		if !strings.HasPrefix(name, "[") {
			least++
		}
		most++
	}
	switch many := strings.Contains(names, "…"); {
	case most > 0 && (len(args) < least || len(args) > most && !many || slices.Contains(args, "")):
		if most == 1 && !many {
			names = "one " + strings.Trim(names, "[]")
		}
		return fmt.Errorf("give %s: %s %s", names, c.CommandPath(), use)
	case most == 0 && len(args) > 0 && c.HasAvailableSubCommands():
		var known []string
		for _, inner := range c.Commands() {
			if inner.IsAvailableCommand() {
				known = append(known, inner.Name())
			}
		}
		return fmt.Errorf("there is no command %.60q%s", args[0], wording.Suggest(args[0], known))
	case most == 0 && len(args) > 0:
		return fmt.Errorf("%s takes no arguments: leave out %.60q", c.CommandPath(), strings.Join(args, " "))
	case strings.Contains(names, "ID"):
		for _, id := range args {
			if err := session.CheckID(id); err != nil {
				return err
			}
		}
	}
	return nil
}
