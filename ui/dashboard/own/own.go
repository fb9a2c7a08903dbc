// Package own runs the commands that a person has configured, on the row under the
// cursor, each with the terminal to itself. It uses no shell: a value is one argument or part of one, whatever it contains.
package own

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
)

// Command is a configured command.
type Command struct {
	Key       string // the key that runs it; "": only the palette runs it
	Name      string // in help, footer and palette
	Program   string // a name in PATH, or a path
	Args      []string
	Live      bool // it may run in an environment with real money
	Unguarded bool // where no real money moves, it runs without asking first
}

// Places lists the names in braces that an argument may contain, such as {id}: values of
// the row.
func Places() []string { return []string{"id", "merchant", "reference", "order", "tracking", "url"} }

var place = regexp.MustCompile(`\{([a-z]+)\}`)

// ID returns the command's action id.
func (c Command) ID() action.ID {
	return action.ID("command-" + strings.Join(strings.Fields(strings.ToLower(c.Name)), "-"))
}

// Check refuses a command that could never run.
func (c Command) Check() error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return errors.New("it has no name")
	case string(api.Scrub(c.Name)) != c.Name:
		return errors.New("its name has characters that cannot be shown")
	case c.Program == "":
		return errors.New(`it has no program: a name, as in program = "git"; no shell is started`)
	case place.MatchString(c.Program):
		return fmt.Errorf("its program is %s: a row's values may be arguments, never the program", c.Program)
	case strings.ContainsRune(c.Program+strings.Join(c.Args, ""), 0):
		return errors.New("it has a NUL character, which arguments must not have")
	}
	for _, arg := range c.Args {
		for _, found := range place.FindAllStringSubmatch(arg, -1) {
			if !slices.Contains(Places(), found[1]) {
				return fmt.Errorf("there is no %s to fill in: there are {%s}", found[0], strings.Join(Places(), "}, {"))
			}
		}
	}
	return nil
}

// Argv returns the program and its arguments with the row's values filled in. It refuses
// a place without a value, and a value that the program would read as an option.
func (c Command) Argv(row map[string]string) ([]string, error) {
	argv := []string{c.Program}
	for _, arg := range c.Args {
		var wrong error
		filled := place.ReplaceAllStringFunc(arg, func(found string) string {
			value := string(api.Scrub(row[strings.Trim(found, "{}")]))
			switch {
			case wrong != nil:
			case strings.TrimSpace(value) == "":
				wrong = fmt.Errorf("%s: this row has no %s", c.Name, found)
			case strings.HasPrefix(arg, found) && strings.HasPrefix(value, "-"):
				wrong = fmt.Errorf("%s: %s is %q here, which %s would read as an option", c.Name, found, value, c.Program)
			}
			return value
		})
		if wrong != nil {
			return nil, wrong
		}
		argv = append(argv, filled)
	}
	return argv, nil
}

// Action returns the command as an action of the dashboard.
func (c Command) Action() action.Action {
	a := action.Action{ID: c.ID(), Title: c.Name, Short: strings.ToLower(c.Name), Group: action.Commands,
		Tooltip: "Runs " + strings.Join(append([]string{c.Program}, c.Args...), " ") + "."}
	if c.Key != "" {
		a.Keys = []string{c.Key}
	}
	return a.Last()
}
