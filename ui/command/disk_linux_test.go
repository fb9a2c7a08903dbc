package command

import (
	"context"
	"flag"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// The long form of the test that fills the disk:
//
//	go test ./ui/command -run FullDisk -disk-fills 20 -v
var diskFills = flag.Int("disk-fills", 1, "how often the disk is full; the long form is 20")

// fileLimit lets files of a process grow no further than size, as a full disk
// does.
func fileLimit(t *testing.T, pid int, size uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: size, Max: math.MaxUint64}
	_, _, failed := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if failed != 0 {
		t.Fatal(failed)
	}
}

func TestAFullDiskIsAnswered503UntilThereIsRoomAndLosesNothing(t *testing.T) {
	t.Parallel()
	data, config := filepath.Join(t.TempDir(), "relay"), relayConfig(t)
	p := startRelayProcess(t, data, "--config", config)
	ready := func() int { return p.get(t, "/readyz", "") }
	post := func(n int) int { return p.post(t, http.DefaultClient, oldSecret, eventOf(n, "shipment.created")) }
	challenge := `{"id":"evt_c","type":"webhook_endpoint.verification_challenge","source":{"id":"we_1","type":"webhook_endpoint"}}`
	if status := ready(); status != http.StatusOK {
		t.Errorf("ready before: %d", status)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := newSender(t, "full")
	s.aim(p.Listen)
	var tasks sync.WaitGroup
	tasks.Go(func() { s.run(ctx) })
	eventually(t, "events are stored", func() bool { n, _ := s.counts(); return n > 100 })
	for range *diskFills {
		for _, size := range []uint64{300 << 10, 64 << 10, 1} { // fuller and fuller
			fileLimit(t, p.command.Process.Pid, size)
			_, before := s.counts()
			eventually(t, "the sender tries", func() bool { _, tried := s.counts(); return tried > before+senderConnections })
		}
		eventually(t, "it is not ready", func() bool { return ready() == http.StatusServiceUnavailable })
		before, _ := s.counts()
		if status := p.postOnce(t, http.DefaultClient, oldSecret, eventOf(1, "shipment.created")); status != http.StatusServiceUnavailable {
			t.Errorf("an event while the disk is full: %d", status)
		}
		if status := p.post(t, http.DefaultClient, oldSecret, challenge); status != http.StatusOK {
			t.Errorf("a challenge while the disk is full: %d", status)
		}
		if after, _ := s.counts(); after != before {
			t.Errorf("%d events were acknowledged while nothing could be written", after-before)
		}
		fileLimit(t, p.command.Process.Pid, math.MaxUint64)
		eventually(t, "it is ready again", func() bool { return ready() == http.StatusOK })
		eventually(t, "events are stored again", func() bool { n, _ := s.counts(); return n > before+100 })
	}
	stop()
	tasks.Wait()
	if status := post(1); status != http.StatusOK {
		t.Errorf("the event that was refused: %d", status)
	}
	found, epoch := p.everything(t, eventsToken)
	s.expectKept(found)
	if k := found["evt_1"]; k.times != 1 {
		t.Errorf("the event that was refused is kept %d times", k.times)
	}
	p.stop()
	p = startRelayProcess(t, data, "--config", config) // what was half written is nothing that opens as a loss
	found, again := p.everything(t, eventsToken)
	s.expectKept(found)
	if again != epoch || strings.Contains(p.said.String(), "lost") {
		t.Errorf("the epoch was %s and is %s: %s", epoch, again, p.said)
	}
}
