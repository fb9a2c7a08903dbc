package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
)

// commandList are commands of one's own, as
//
//	[[command]]
//	key = "alt+n"
//	name = "Note the order"
//	program = "note"
//	args = ["--order", "{order}", "from {merchant}"]
type commandList []own.Command

// commandFields maps the settings of one command to its fields.
func commandFields(c *own.Command, guarded *bool) map[string]any {
	return map[string]any{"key": &c.Key, "name": &c.Name, "program": &c.Program, "args": &c.Args, "confirm": guarded, "screen": &c.Screen, "live": &c.Live}
}

// parse reads the [[command]] tables of the configuration file.
func (l *commandList) parse(value any) (wrong []error) {
	entries, is := value.([]any)
	if !is {
		return []error{invalidValue("command", value, "a list of tables, as in [[command]]")}
	}
	*l = nil
	for i, entry := range entries {
		place := fmt.Sprintf("command %d", i+1)
		table, is := entry.(map[string]any)
		if !is {
			wrong = append(wrong, invalidValue(place, entry, "a table, as in [[command]]"))
			continue
		}
		c, guarded := own.Command{}, true
		fields := commandFields(&c, &guarded)
		known := slices.Sorted(maps.Keys(fields))
		for _, key := range slices.Sorted(maps.Keys(table)) {
			switch field, exists := fields[key]; {
			case !exists:
				wrong = append(wrong, usagef("%s: there is no setting %q%s", place, key, suggest(key, known)))
			case !assign(field, table[key]):
				wrong = append(wrong, invalidValue(place+": "+key, table[key], describeKind(field)))
			}
		}
		c.Unguarded = !guarded
		if err := c.Check(); err != nil {
			wrong = append(wrong, usagef("%s, %q: %w", place, c.Name, err))
		}
		*l = append(*l, c)
	}
	return wrong
}

// keyBindings are the configured keys of actions: the table [keys].
type keyBindings map[action.ID][]string

// actions is the table of actions with the configured keys and commands. The error names
// each unusable action and key.
func (s settings) actions() (*action.Table, error) {
	table, err := action.Default(), error(nil)
	if len(s.Keys) > 0 {
		table, err = table.Remap(s.Keys)
	}
	if err != nil || len(s.Commands) == 0 {
		return table, err
	}
	all := table.Actions()
	for _, c := range s.Commands {
		all = append(all, c.Action())
	}
	if table, err = action.NewTable(all); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return table, nil
}

// interrupts end this process, except while another program has the terminal and gets
// them alone.
type interrupts struct{ suspended atomic.Int32 }

type interruptsKey struct{}

// sameInterrupt is the time within which several signals count as one interrupt:
// timeout(1) and shells signal both a process and its group.
const sameInterrupt = 250 * time.Millisecond

// interruptible returns a context that ends at the first interrupt. The next one ends
// the process at once.
func interruptible(ctx context.Context) context.Context {
	i := &interrupts{}
	ctx, end := context.WithCancel(context.WithValue(ctx, interruptsKey{}, i))
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() { // lives as long as the process
		for s := range heard {
			if s != os.Interrupt || i.suspended.Load() == 0 {
				end()
				time.Sleep(sameInterrupt)
				signal.Stop(heard)
				return
			}
		}
	}()
	return ctx
}

// interruptSuspender returns what leaves the terminal's interrupts to another program,
// until resume is called.
func interruptSuspender(ctx context.Context) func() (resume func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok {
		return nil
	}
	return func() func() {
		i.suspended.Add(1)
		return func() { i.suspended.Add(-1) }
	}
}
