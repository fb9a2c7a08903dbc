package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// deliverAnew posts a signed body over a connection of its own and returns the
// status.
func deliverAnew(t *testing.T, n *network, body []byte) int {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: n.dial, DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1"+WebhookPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-svc-signature", sign(testSecret, body))
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// dribblers are strangers who send a well-formed signature and the beginning of
// a large body at once, then a byte a second; whoever is shut out comes again.
type dribblers struct {
	network *network
	head    string
	begun   string // of the body
	tasks   sync.WaitGroup
	mu      sync.Mutex
	answers map[int]int // how often which status
}

func (d *dribblers) start(ctx context.Context, count int) {
	d.answers = map[int]int{}
	for range count {
		d.tasks.Go(func() {
			for ctx.Err() == nil {
				c, err := d.network.dial(ctx, "", "")
				if err != nil {
					return
				}
				d.dribble(ctx, c)
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
		})
	}
}

func (d *dribblers) dribble(ctx context.Context, c net.Conn) {
	answered := make(chan struct{})
	d.tasks.Go(func() {
		defer close(answered)
		var status int
		answer, _ := io.ReadAll(c)
		if _, err := fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status); err == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.answers[status]++
		}
	})
	defer func() {
		_ = c.Close()
		<-answered
	}()
	_, err := io.WriteString(c, d.head+d.begun)
	for err == nil {
		select {
		case <-time.After(time.Second):
			_, err = io.WriteString(c, " ")
		case <-answered:
			return
		case <-ctx.Done():
			return
		}
	}
}

func TestStrangersWhoDribbleNeitherKeepLargeDeliveriesOutNorCostAnything(t *testing.T) {
	declared := "Content-Length: 1000000\r\n\r\n"
	for _, test := range []struct {
		name      string
		strangers int
		length    string
		room      int
		madeRoom  bool // whether there are more of them than there is room for
	}{
		{"40 who declare a length", 40, declared, bodyMemorySize, false},
		{"400 who declare a length", 400, declared, bodyMemorySize, false},
		{"40 who declare none", 40, "Transfer-Encoding: chunked\r\n\r\nfffff\r\n", bodyMemorySize, false},
		{"more than there is room for", 100, declared, 1 << 20, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, list, log := newMemory(t), &listing{}, &recorded{}
				r := newTestRelay(t, memory, func(cfg *Config) { cfg.Events, cfg.Logger = list, log.logger() })
				r.unverifiedBodies = newBodyMemory(test.room)
				n := newNetwork()
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- r.Serve(ctx, n) }()
				d := &dribblers{network: n, head: "POST /webhooks HTTP/1.1\r\nHost: x\r\nX-Svc-Signature: v0=" + strings.Repeat("0", 64) + "\r\n" + test.length, begun: strings.Repeat(" ", smallBody+1000)}
				attack, ended := context.WithCancel(ctx)
				d.start(attack, test.strangers)
				<-time.After(250 * time.Millisecond) // no delivery comes with a wave of strangers
				for i := range 13 {
					began := time.Now()
					if status := deliverAnew(t, n, padded(i, 17_000+i*2_000)); status != http.StatusOK {
						t.Errorf("delivery %d of %d bytes: %d", i, 17_000+i*2_000, status)
					}
					if waited := time.Since(began); waited > 0 {
						t.Errorf("delivery %d was answered after %v", i, waited)
					}
					<-time.After(1500 * time.Millisecond)
				}
				ended()
				d.tasks.Wait()
				values := scraped(t, r)
				crowded, _ := strconv.Atoi(values[`tillwatch_deliveries_total{outcome="crowded"}`])
				if values[`tillwatch_deliveries_total{outcome="unavailable"}`] != "0" || values[`tillwatch_deliveries_total{outcome="stored"}`] != "13" || crowded > 0 != test.madeRoom {
					t.Errorf("the counts are %v", values)
				}
				if told := d.answers[http.StatusServiceUnavailable]; told > crowded || told < crowded-test.strangers {
					t.Errorf("%d made room and the strangers were answered %v", crowded, d.answers)
				}
				if walks := list.walks.Load(); walks != 1 {
					t.Errorf("the service's list was read %d times, want once, at the start", walks)
				}
				if strings.Contains(log.String(), "level=ERROR") {
					t.Errorf("the log is %s", log)
				}
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// share grows a lodger of r and expects what becomes of that.
func share(t *testing.T, r *bodyMemory, size int, want error) (l *bodyShare, evicted *bool) {
	t.Helper()
	evicted = new(bool)
	l = r.share(func() { *evicted = true })
	if err := l.grow(t.Context(), size); !errors.Is(err, want) {
		t.Errorf("%d bytes: %v, want %v", size, err, want)
	}
	return l, evicted
}

func TestWhoHasBeenInTheRoomLongestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBodyMemory(100)
		first, firstOut := share(t, r, 60, nil)
		second, secondOut := share(t, r, 40, nil)
		time.AfterFunc(100*time.Millisecond, first.leave)
		began := time.Now()
		third, _ := share(t, r, 50, nil)
		if waited := time.Since(began); !*firstOut || *secondOut || waited != 100*time.Millisecond {
			t.Errorf("the first was evicted: %v, the second: %v; the third waited %v", *firstOut, *secondOut, waited)
		}
		if err := first.settle(); err != nil {
			t.Errorf("a body that holds nothing: %v", err)
		}
		if err := second.grow(t.Context(), 60); !errors.Is(err, errCrowded) || !errors.Is(second.settle(), errCrowded) {
			t.Errorf("who is the oldest and wants more than there is has got %v", err)
		}
		second.leave()
		third.leave()
		third.leave()
		if r.free != 100 || r.leaving != 0 || r.shares.Len() != 0 {
			t.Errorf("%d bytes are free and %d are about to be when all have left", r.free, r.leaving)
		}
	})
}

func TestAWholeBodyIsNotShownOutAndRoomIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBodyMemory(100)
		whole, out := share(t, r, 100, nil)
		if err := whole.settle(); err != nil {
			t.Error(err)
		}
		began := time.Now()
		share(t, r, 10, errCrowded)
		if waited := time.Since(began); *out || waited != evictionTimeout {
			t.Errorf("a whole body was evicted: %v; the next one waited %v", *out, waited)
		}
		whole.leave()
		share(t, r, 100, nil)
	})
}

func TestStrangersTakeNoMemoryOfAVerifiedConnection(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	r.unverifiedBodies = newBodyMemory(0)
	large := func(known bool) int {
		req := signedRequest(padded(1, smallBody+1))
		if known {
			c, _ := newConnectionLimiter(nil, 1, nil).admit(nil)
			c.vouch()
			req = req.WithContext(withConnection(req.Context(), c))
		}
		return serve(r.Ingest(), req).Code
	}
	if stranger, known := large(false), large(true); stranger != http.StatusServiceUnavailable || known != http.StatusOK {
		t.Errorf("a stranger without room: %d, a known connection: %d", stranger, known)
	}
}
