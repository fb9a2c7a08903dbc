package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Part is something that runs beside others until its context ends.
type Part func(context.Context) error

// UntilDone waits for ctx.
func UntilDone(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Alongside runs the parts until main returns, then ends them and waits for them. A part that fails ends main; its
// error comes before main's. A panic fails as well: main may have a terminal to restore.
func Alongside(ctx context.Context, main Part, parts ...Part) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, end := context.WithCancel(ctx)
	defer end()
	for _, run := range parts {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
	}
	err := main(ctx)
	end()
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}
