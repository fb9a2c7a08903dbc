package relay

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
)

func TestTheDatabaseKeepsToItsSizeWhileEventsCome(t *testing.T) {
	const limit, body = 2 << 20, 1000
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := opened(t, dir)
		r := newTestRelay(t, j, func(cfg *Config) { cfg.RetentionSize = limit })
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.retain(ctx)
		}()
		for n := range 3000 { // 100 a second
			_, err := j.Append(ctx, []journal.Entry{{ID: strconv.Itoa(n), Received: time.Now(), Body: make([]byte, body)}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			if n%100 != 0 {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, "journal.db")); err != nil || info.Size() > limit {
				t.Fatalf("after %d events: %d bytes, %v", n, info.Size(), err)
			}
		}
		end()
		<-ended
		oldest, err := j.Oldest(t.Context())
		if err != nil || oldest == 1 || (3000-oldest)*body < limit/2 {
			t.Errorf("the oldest is %d, %v", oldest, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
