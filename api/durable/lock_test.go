package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneProcessAtATimeChangesAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "new", "file")
		change := func(ctx context.Context, do func() error) error { return Exclusively(ctx, path, time.Second, do) }
		over, stop := context.WithCancel(t.Context())
		stop()
		failed := errors.New("it failed")
		err := change(t.Context(), func() error {
			began := time.Now()
			if err := change(t.Context(), func() error { return failed }); err == nil || !strings.Contains(err.Error(), path+" is being changed by another process") {
				t.Errorf("while another changes it: %v", err)
			}
			if waited := time.Since(began); waited != time.Second {
				t.Errorf("waited %v, want a second", waited)
			}
			if err := change(over, func() error { return failed }); !errors.Is(err, context.Canceled) {
				t.Errorf("when interrupted: %v", err)
			}
			return failed
		})
		if err != failed {
			t.Errorf("%v, want the error of the change", err)
		}
		if err := change(t.Context(), func() error { return os.WriteFile(path, nil, 0o600) }); err != nil {
			t.Errorf("after another has changed it: %v", err)
		}
	})
}
