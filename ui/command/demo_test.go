package command

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"tillwatch/api/simulator"
)

func TestTheConfirmWindowOfADemoRunsAsFastAsItsShop(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	s, err := startStage(ctx, group, defaults(), simulator.Config{Speed: 9, History: -1}, t.TempDir(), 0)
	if err != nil || s.ConfirmWindow != 5*time.Minute {
		t.Errorf("window %v, %v; want 5m", s.ConfirmWindow, err)
	}
	end()
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
