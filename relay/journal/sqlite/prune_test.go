package sqlite

import (
	"context"
	"errors"
	"testing"
)

// TestAPruneWhoseCallerLeftSharesNothingWithIt is for the race detector.
func TestAPruneWhoseCallerLeftSharesNothingWithIt(t *testing.T) {
	j := opened(t, t.TempDir()).(*Journal)
	ctx, leave := context.WithCancel(t.Context())
	_, err := j.prune(ctx, func(*batch) (int64, error) {
		leave()
		return 1, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
