package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
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
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return err
	}
	all := make([]*reader, subscribers)
	for i := range all {
		if all[i], err = openReader(address); err != nil {
			return err
		}
		ready := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)}
		if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, int(all[i].file.Fd()), &ready); err != nil {
			return err
		}
	}
	fmt.Println(0)
	arrivals := make([]int64, subscribers*events)
	seen := make([]int, events+1)
	ready := make([]syscall.EpollEvent, subscribers)
	buffer := make([]byte, 4*frameBytes)
	for whole := 0; whole < events; {
		n, err := syscall.EpollWait(poll, ready, -1)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		for _, event := range ready[:max(n, 0)] {
			r := all[event.Fd]
			from := r.seen
			if err := r.read(buffer); err != nil {
				return err
			}
			if r.seen > events {
				return errors.New("there are more events than were posted")
			}
			now := time.Now().UnixNano()
			for n := from + 1; n <= r.seen; n++ {
				arrivals[(n-1)*subscribers+int(event.Fd)] = now
				if seen[n]++; seen[n] == subscribers {
					fmt.Println(n)
					whole++
				}
			}
		}
	}
	return binary.Write(os.Stdout, binary.LittleEndian, arrivals)
}

// openReader returns a stream that is live and has seen nothing.
func openReader(address string) (*reader, error) {
	dialer := websocket.Dialer{Subprotocols: []string{Protocol}, ReadBufferSize: 4096, WriteBufferSize: 256}
	socket, _, err := dialer.Dial("ws://"+address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		return nil, err
	}
	hello, err := json.Marshal(helloFrame{T: frameHello, From: FromLatest})
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
		f, err := readFrame(text)
		if err != nil {
			return nil, err
		}
		if f.T != frameLive {
			continue
		}
		at, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		file, err := socket.NetConn().(*net.TCPConn).File()
		return &reader{file: file, before: at.seq}, err
	}
}

// reader is one of the lean subscribers. It takes frames apart only as far as it
// must to count the events: to decode them would measure the reader.
type reader struct {
	file   *os.File
	rest   []byte // of a frame that is not whole yet
	before int64  // the last event that it does not count
	seen   int    // events
}

// read takes what has come, which is at least one byte.
func (r *reader) read(buffer []byte) error {
	held := copy(buffer, r.rest)
	n, err := syscall.Read(int(r.file.Fd()), buffer[held:])
	if err != nil || n == 0 {
		return fmt.Errorf("a stream has ended: %v", err)
	}
	text := buffer[:held+n]
	for {
		frame, rest, whole := cutFrame(text)
		if !whole {
			r.rest = append(r.rest[:0], text...)
			return nil
		}
		if err := r.count(frame); err != nil {
			return err
		}
		text = rest
	}
}

// cutFrame cuts the payload of the first frame of a server off text.
func cutFrame(text []byte) (payload, rest []byte, whole bool) {
	if len(text) < 2 {
		return nil, nil, false
	}
	size, header := int(text[1]), 2
	switch {
	case size == 126 && len(text) >= 4:
		size, header = int(binary.BigEndian.Uint16(text[2:])), 4
	case size == 127 && len(text) >= 10:
		size, header = int(binary.BigEndian.Uint64(text[2:])), 10
	case size >= 126:
		return nil, nil, false
	}
	if len(text) < header+size {
		return nil, nil, false
	}
	return text[header : header+size], text[header+size:], true
}

// count expects the events of a frame to follow those before.
func (r *reader) count(frame []byte) error {
	text, is := bytes.CutPrefix(frame, eventsPrefix)
	if !is {
		return nil
	}
	number := []byte(`{"seq":`)
	for {
		at := bytes.Index(text, number)
		if at < 0 {
			return nil
		}
		text = text[at+len(number):]
		seq := int64(0)
		for i := 0; '0' <= text[i] && text[i] <= '9'; i++ {
			seq = 10*seq + int64(text[i]-'0')
		}
		if r.seen++; seq != r.before+int64(r.seen) {
			return fmt.Errorf("event %d came where %d was due", seq, r.before+int64(r.seen))
		}
	}
}
