package dashboard

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// stalled is a terminal that stops reading with its first picture, until it is
// let go on.
type stalled struct {
	once    sync.Once
	waiting chan struct{}
	goOn    chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.waiting) })
	<-s.goOn
	return len(p), nil
}

// However long it stalls: here it goes on only after every event is in.
func TestATerminalThatStopsReadingDelaysNoEventsWayIntoTheStore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	store := account.NewStore(account.StoreConfig{})
	out := &stalled{waiting: make(chan struct{}), goOn: make(chan struct{})}
	in, keys := io.Pipe()
	defer keys.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Source: store, Location: time.UTC, Width: 120, Height: 36}, in, out)
	}()
	<-out.waiting
	const events = 4000
	for n := range events {
		id := api.ID(fmt.Sprintf("ci_%d", n))
		store.ApplyRead(api.Intent{ID: id, State: api.AwaitingConfirmation, CreatedAt: time.Now()}, time.Now(), account.ByRead)
	}
	if got := store.Changes(0).Summary.Intents[api.AwaitingConfirmation]; got != events {
		t.Errorf("the store knows %d intents, want %d", got, events)
	}
	close(out.goOn)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestATerminalThatNeverReadsAgainDoesNotHoldUpTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &stalled{waiting: make(chan struct{}), goOn: make(chan struct{})}
	defer close(out.goOn)
	in, keys := io.Pipe()
	defer keys.Close()
	screen := NewScreen(in, out)
	ended := make(chan error, 1)
	go func() { ended <- screen.Show(ctx, Config{Source: typicalShop(time.Now()), Width: 120, Height: 36}) }()
	<-out.waiting
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !screen.Stuck() {
		t.Error("the terminal is said to take what is written to it")
	}
}
