package relay

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// flood is a body without an end that pauses shortly before it is too large.
type flood struct {
	sent   int
	resume <-chan struct{}
}

func (e *flood) Read(p []byte) (int, error) {
	if e.sent+len(p) >= MaxBody {
		<-e.resume
	}
	e.sent += len(p)
	clear(p)
	return len(p), nil
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAHundredEndlessBodiesTakeNoMoreThanTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const posts, limit = 100, 64_000_000
		h := newTestRelay(t, newMemory(t), nil).Ingest()
		before := heap()
		resume := make(chan struct{})
		var tasks sync.WaitGroup
		for range posts {
			tasks.Go(func() {
				req := httptest.NewRequest(http.MethodPost, WebhookPath, io.NopCloser(&flood{resume: resume}))
				req.ContentLength = -1
				req.Header.Set("x-svc-signature", sign(testSecret, nil))
				w := serve(h, req)
				if w.Code != http.StatusRequestEntityTooLarge && w.Code != http.StatusServiceUnavailable {
					t.Errorf("an endless body: %d", w.Code)
				}
			})
		}
		synctest.Wait()
		if grown := heap() - before; grown > limit || grown < largeBodies<<19 {
			t.Errorf("the heap has grown by %d bytes, want at most %d and what %d places hold", grown, limit, largeBodies)
		}
		close(resume)
		tasks.Wait()
	})
}
