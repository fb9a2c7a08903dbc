package relay

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
)

func TestEventsAreDeletedByTheirAge(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := opened(t, dir)
		r := newTestRelay(t, j, func(cfg *Config) { cfg.Retention = 24 * time.Hour })
		for i, age := range []time.Duration{48 * time.Hour, time.Hour} {
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: strconv.Itoa(i), Received: time.Now().Add(-age), Body: []byte("{}")}}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.retain(ctx)
		}()
		oldest := func() int64 {
			seq, err := j.Oldest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return seq
		}
		time.Sleep(pruneInterval - time.Second)
		if seq := oldest(); seq != 1 {
			t.Errorf("within the hour the oldest is %d", seq)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if seq := oldest(); seq != 2 {
			t.Errorf("after the hour the oldest is %d", seq)
		}
		end()
		<-ended
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
