package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// readersOf names what a child process of the benchmarks reads: the address of a
// relay, how many subscribers it plays and how many events they wait for.
const readersOf = "TILLWATCH_TEST_READERS"

// readers is a child process with many lean subscribers: each only notes when
// which event came. The figures of a relay are its own that way.
type readers struct {
	subscribers, events int
	process             *exec.Cmd
	output              *bufio.Reader
}

// startReaders returns once every subscriber is live.
func startReaders(b *testing.B, address string, subscribers, events int) *readers {
	b.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", readersOf, address, subscribers, events))
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it has ended, or was killed
	})
	r := &readers{subscribers: subscribers, events: events, process: child, output: bufio.NewReaderSize(output, 1<<20)}
	if n := r.next(b); n != 0 {
		b.Fatalf("the readers began with event %d", n)
	}
	return r
}

// next returns the number of an event that has reached every subscriber.
func (r *readers) next(b *testing.B) int {
	line, err := r.output.ReadString('\n')
	if err != nil {
		b.Fatalf("the readers have ended: %v", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// arrivals returns when each event reached each subscriber, in nanoseconds of the
// wall clock: those of event n begin at (n-1)*subscribers.
func (r *readers) arrivals(b *testing.B) []int64 {
	all := make([]int64, r.subscribers*r.events)
	if err := binary.Read(r.output, binary.LittleEndian, all); err != nil {
		b.Fatal(err)
	}
	return all
}

// read is what the child process does. It prints 0 when all subscribers are
// live, the number of each event that all of them have, and then the arrivals.
func read(task string) error {
	var address string
	var subscribers, events int
	if _, err := fmt.Sscan(task, &address, &subscribers, &events); err != nil {
		return err
	}
	var live, tasks sync.WaitGroup
	arrivals := make([]int64, subscribers*events)
	missing := make([]atomic.Int32, events+1)
	whole := make(chan int, events)
	failed := make(chan error, subscribers)
	live.Add(subscribers)
	for i := range missing {
		missing[i].Store(int32(subscribers))
	}
	places := make(chan struct{}, 64) // dials at a time
	for subscriber := range subscribers {
		tasks.Go(func() {
			places <- struct{}{}
			socket, err := openReader(address)
			<-places
			if err == nil {
				live.Done()
				err = timestamp(socket, events, func(seq int, at int64) {
					arrivals[(seq-1)*subscribers+subscriber] = at
					if missing[seq].Add(-1) == 0 {
						whole <- seq
					}
				})
			}
			if err != nil {
				failed <- err
			}
		})
	}
	all := make(chan struct{})
	go func() {
		live.Wait()
		close(all)
	}()
	select {
	case <-all:
	case err := <-failed:
		return err
	}
	fmt.Println(0)
	for range events {
		select {
		case n := <-whole:
			fmt.Println(n)
		case err := <-failed:
			return err
		}
	}
	tasks.Wait()
	return binary.Write(os.Stdout, binary.LittleEndian, arrivals)
}

// openReader returns a stream that is live.
func openReader(address string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{Subprotocols: []string{Protocol}, ReadBufferSize: 4096, WriteBufferSize: 256}
	socket, _, err := dialer.Dial("ws://"+address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		return nil, err
	}
	hello, err := json.Marshal(helloFrame{T: frameHello})
	if err != nil {
		return nil, err
	}
	if err := socket.WriteMessage(websocket.TextMessage, hello); err != nil {
		return nil, err
	}
	for {
		_, text, err := socket.ReadMessage()
		if err != nil {
			return nil, err
		}
		if f, err := decodeFrame(text); err != nil || f.T == frameLive {
			return socket, err
		}
	}
}

// timestamp reads frames until it has seen events, which must come in order. It
// looks for the numbers only: decoding would measure the reader.
func timestamp(socket *websocket.Conn, events int, seen func(seq int, at int64)) error {
	var frame bytes.Buffer
	number := []byte(`{"seq":`)
	for last := 0; last < events; {
		_, reader, err := socket.NextReader()
		if err != nil {
			return err
		}
		frame.Reset()
		if _, err := io.Copy(&frame, reader); err != nil {
			return err
		}
		now := time.Now().UnixNano()
		text, is := bytes.CutPrefix(frame.Bytes(), eventsPrefix)
		if !is {
			continue
		}
		for {
			at := bytes.Index(text, number)
			if at < 0 {
				break
			}
			text = text[at+len(number):]
			seq := 0
			for i := 0; '0' <= text[i] && text[i] <= '9'; i++ {
				seq = 10*seq + int(text[i]-'0')
			}
			if last++; seq != last || seq > events {
				return errors.New("an event is missing, doubled or out of order")
			}
			seen(seq, now)
		}
	}
	return nil
}
