package dashboard

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// errands are what goes on beside the loop. Run waits for them.
type errands struct{ sync.WaitGroup }

// start does something beside the loop, and tells what came of it.
func (e *errands) start(ctx context.Context, do func(context.Context) tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	e.Go(func() { done <- do(ctx) })
	return func() tea.Msg { return <-done }
}
