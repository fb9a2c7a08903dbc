package dashboard

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// errands are tasks outside the event loop. Run waits for them.
type errands struct{ sync.WaitGroup }

// start runs a task outside the loop, and sends its result as a message.
func (e *errands) start(ctx context.Context, do func(context.Context) tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	e.Go(func() { done <- do(ctx) })
	return func() tea.Msg { return <-done }
}
