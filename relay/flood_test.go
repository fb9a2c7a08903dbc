package relay

import (
	"bufio"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools held of the tests before
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The bodies pause shortly before they are too large: all of them at once are
// more than there is room for.
func TestAHundredEndlessBodiesTakeNoMoreThanTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const posts, pieces, limit = 100, MaxBody / smallBody, 64_000_000
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		head := "POST /webhooks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-Svc-Signature: v0=" + strings.Repeat("0", 64) + "\r\n\r\n"
		piece := []byte(fmt.Sprintf("%x\r\n%s\r\n", smallBody, strings.Repeat(" ", smallBody)))
		before := heap()
		resume := make(chan struct{})
		var tasks sync.WaitGroup
		var mu sync.Mutex
		answers := map[int]int{}
		for range posts {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			tasks.Go(func() {
				_, err := c.Write([]byte(head))
				for sent := 0; err == nil; sent++ {
					if sent == pieces-1 {
						<-resume
					}
					_, err = c.Write(piece)
				}
			})
			tasks.Go(func() {
				defer c.Close()
				answer, err := http.ReadResponse(bufio.NewReaderSize(c, 512), nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				answers[answer.StatusCode]++
			})
		}
		synctest.Wait()
		if grown := heap() - before; grown > limit || grown < bodyMemorySize/2 {
			t.Errorf("the heap has grown by %d bytes, want at most %d and what the room of %d holds", grown, limit, bodyMemorySize)
		}
		close(resume)
		tasks.Wait()
		if answers[http.StatusServiceUnavailable]+answers[http.StatusRequestEntityTooLarge] != posts || answers[http.StatusRequestEntityTooLarge] < bodyMemorySize/MaxBody-1 {
			t.Errorf("the answers are %v", answers)
		}
		<-time.After(time.Second) // the server lingers over connections that it ends
	})
}
