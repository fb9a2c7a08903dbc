//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal/sqlite"
)

// The long forms of the tests that signal processes:
//
//	go test . -run Interrupt -interrupts 100 -v
//	go test . -run Suspended -suspend-for 45s -v
var (
	interrupts = flag.Int("interrupts", 1, "how often a process is interrupted in each state; from 10 on, each must be gone within a second")
	suspendFor = flag.Duration("suspend-for", 300*time.Millisecond, "how long a process is stopped; from 10s on, it must catch up within a second")
)

const (
	asProgram = "TILLWATCH_TEST_AS_PROGRAM"
	token     = "a-token-of-the-tests"
	secret    = "a-signing-secret-of-the-tests"
	patience  = 3 * time.Minute // it decides nothing but when to give up
)

// TestMain plays the program that the tests start and signal.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is tillwatch in a process of its own.
type program struct {
	t       *testing.T
	command *exec.Cmd
	lines   *bufio.Scanner // of stdout
	words   *words         // from stderr
}

// words is what was said so far.
type words struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed at each word
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	return w.text.Write(p)
}

func (w *words) now() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String(), w.changed
}

func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{t: t, command: asCommand(t, args...), words: &words{changed: make(chan struct{})}}
	p.command.Stderr = p.words
	output, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(output)
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait() // it has ended, or was killed
	})
	return p
}

// asCommand is tillwatch with settings and folders of its own.
func asCommand(t *testing.T, args ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], args...)
	mine := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TILLWATCH_") })
	command.Env = append(mine, asProgram+"=1", "TILLWATCH_RELAY_TOKEN="+token, "TILLWATCH_SIGNING_SECRET="+secret,
		"XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	return command
}

func (p *program) line() string {
	p.t.Helper()
	if !p.lines.Scan() {
		said, _ := p.words.now()
		p.t.Fatalf("no more lines: %s", said)
	}
	return p.lines.Text()
}

func (p *program) awaitWords(part string) {
	p.t.Helper()
	limit := time.After(patience)
	for {
		said, changed := p.words.now()
		if strings.Contains(said, part) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			p.t.Fatalf("waited in vain for %q in %q", part, said)
		}
	}
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// interrupt interrupts p and returns how long it took to be gone.
func (p *program) interrupt() time.Duration {
	p.t.Helper()
	began := time.Now()
	p.signal(os.Interrupt)
	limit := time.AfterFunc(patience, func() { _ = p.command.Process.Kill() })
	defer limit.Stop()
	for p.lines.Scan() { // the pipe is read to its end before the process is waited for
	}
	_ = p.command.Wait() // the state says more
	took := time.Since(began)
	said, _ := p.words.now()
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("exit code %d (%v): %s", code, p.command.ProcessState, said)
	}
	if strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
		p.t.Errorf("it said %s", said)
	}
	return took
}

// repeatInterrupts interrupts what start returns as often as the flag says.
func repeatInterrupts(t *testing.T, start func(t *testing.T) *program) {
	var longest time.Duration
	for range *interrupts {
		longest = max(longest, start(t).interrupt())
	}
	t.Logf("interrupted %d times: gone within %v", *interrupts, longest)
	if *interrupts >= 10 && longest > time.Second {
		t.Error("that is more than a second")
	}
}

// service is a relay in this process, and how to post to it.
type service struct {
	relay   *relay.Relay
	address string
	posted  int
}

func startService(t *testing.T) *service {
	t.Helper()
	events, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = events.Close() })
	r, err := relay.New(relay.Config{
		Journal: events, SigningSecrets: []api.Secret{api.NewSecret(secret)}, Tokens: []api.Secret{api.NewSecret(token)},
		StoreBudget: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = events.Close()
	})
	return &service{relay: r, address: "http://" + listener.Addr().String()}
}

// post posts n more events.
func (s *service) post(t *testing.T, n int) {
	t.Helper()
	for range n {
		s.posted++
		if status := postTo(t, s.address, s.posted); status != http.StatusOK {
			t.Fatalf("event %d: %d", s.posted, status)
		}
	}
}

func postTo(t *testing.T, address string, n int) int {
	body := fmt.Sprintf(`{"id":"evt_ci_%032x_completed","object":"event","type":"checkout_intent.completed",`+
		`"createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_%032x"}}`, n, n)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/webhooks", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("x-svc-signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// endlessReplay is a relay whose replay never reaches the head.
func endlessReplay(t *testing.T) (address string) {
	upgrader := websocket.Upgrader{Subprotocols: []string{relay.Protocol}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		socket, err := upgrader.Upgrade(w, req, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		welcome := map[string]any{"t": "welcome", "epoch": "e", "head": 1 << 40, "oldest": 1, "resume": "fresh", "hb": 25}
		err = socket.WriteJSON(welcome)
		for seq := 1; err == nil; seq++ {
			item := map[string]any{"seq": seq, "id": "evt_1", "type": "checkout_intent.completed", "src": "webhook", "raw": []byte(`{}`)}
			err = socket.WriteJSON(map[string]any{"t": "ev", "items": []any{item}})
		}
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

func TestAnInterruptEndsEventsInEveryState(t *testing.T) {
	follow := func(t *testing.T, address string, more ...string) *program {
		return startProgram(t, append([]string{"events", "--follow", "--json", "--relay-url", address}, more...)...)
	}
	t.Run("dialling", func(t *testing.T) {
		silent, err := net.Listen("tcp", "127.0.0.1:0") // what it is sent is never answered
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		repeatInterrupts(t, func(t *testing.T) *program {
			p := follow(t, "http://"+silent.Addr().String())
			c, err := silent.Accept()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			return p
		})
	})
	t.Run("backing off", func(t *testing.T) {
		repeatInterrupts(t, func(t *testing.T) *program {
			p := follow(t, "http://127.0.0.1:1") // where nothing listens
			p.awaitWords("Trying again")
			return p
		})
	})
	t.Run("replaying", func(t *testing.T) {
		address := endlessReplay(t)
		repeatInterrupts(t, func(t *testing.T) *program {
			p := follow(t, address, "--since", "earliest")
			p.line()
			return p
		})
	})
	t.Run("live", func(t *testing.T) {
		s := startService(t)
		repeatInterrupts(t, func(t *testing.T) *program {
			p := follow(t, s.address)
			p.awaitWords("Live")
			s.post(t, 1)
			p.line()
			return p
		})
	})
}

func TestAnInterruptEndsARelay(t *testing.T) {
	start := func(t *testing.T) (p *program, address string) {
		p = startProgram(t, "relay", "--json", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "journal"))
		var ready struct{ Listen string }
		if err := json.Unmarshal([]byte(p.line()), &ready); err != nil {
			t.Fatal(err)
		}
		return p, ready.Listen
	}
	t.Run("idle", func(t *testing.T) {
		repeatInterrupts(t, func(t *testing.T) *program {
			p, _ := start(t)
			return p
		})
	})
	t.Run("with a subscriber and deliveries", func(t *testing.T) {
		repeatInterrupts(t, func(t *testing.T) *program {
			p, address := start(t)
			subscriber := startProgram(t, "events", "--follow", "--json", "--relay-url", address)
			subscriber.awaitWords("Live")
			var posts sync.WaitGroup
			t.Cleanup(posts.Wait)
			posts.Go(func() {
				for n := 1; postTo(t, address, n) == http.StatusOK; n++ {
				}
			})
			subscriber.line()
			return p
		})
	})
}

func TestASuspendedProcessCatchesUp(t *testing.T) {
	s := startService(t)
	p := startProgram(t, "events", "--follow", "--json", "--since", "earliest", "--relay-url", s.address)
	seen := 0
	next := func() {
		t.Helper()
		var line struct{ Event struct{ Seq int } }
		if err := json.Unmarshal([]byte(p.line()), &line); err != nil {
			t.Fatal(err)
		}
		if seen++; line.Event.Seq != seen {
			t.Fatalf("event %d came where %d was due", line.Event.Seq, seen)
		}
	}
	p.awaitWords("Live")
	s.post(t, 10)
	for range 10 {
		next()
	}
	p.signal(syscall.SIGSTOP)
	ticker := time.NewTicker(*suspendFor / 10)
	defer ticker.Stop()
	for range 10 {
		<-ticker.C
		s.post(t, 20)
	}
	streams := s.relay.Streams()
	woken := time.Now()
	p.signal(syscall.SIGCONT)
	for seen < s.posted {
		next()
	}
	took := time.Since(woken)
	t.Logf("stopped for %v (%d streams were left): %d events caught up within %v", *suspendFor, streams, s.posted-10, took)
	if *suspendFor >= 10*time.Second && took > time.Second {
		t.Error("that is more than a second")
	}
	p.interrupt()
}
