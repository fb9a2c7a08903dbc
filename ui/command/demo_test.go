package command

import (
	"context"
	"testing"
	"time"

	"tillwatch/api/simulator"
)

func TestTheConfirmWindowOfADemoRunsAsFastAsItsShop(t *testing.T) {
	t.Parallel()
	s, stage, err := setStage(defaults(), simulator.Config{Speed: 9, History: -1}, t.TempDir(), 0)
	if err != nil || s.ConfirmWindow != 5*time.Minute {
		t.Errorf("window %v, %v; want 5m", s.ConfirmWindow, err)
	}
	if err := alongside(t.Context(), func(context.Context) error { return nil }, stage...); err != nil {
		t.Error(err)
	}
}
