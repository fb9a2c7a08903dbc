package account

import (
	"context"
	"iter"
	"time"

	"tillwatch/api"
)

// Reader is what the watcher asks of the service; [api.Client] is one.
type Reader interface {
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	Shipment(ctx context.Context, id api.ID) (api.Shipment, error)
	Shipments(ctx context.Context, query api.ShipmentQuery) iter.Seq2[api.Shipment, error]
	IntentShipments(ctx context.Context, id api.ID) iter.Seq2[api.Shipment, error]
	Intents(ctx context.Context) iter.Seq2[api.Intent, error]
}

// Watcher keeps a store right and fresh: it follows a feed, decides what to read
// next and when, and merges what it learns.
type Watcher struct{}

// WatcherConfig sets a watcher up.
type WatcherConfig struct {
	Store    *Store
	Reader   Reader
	Feed     Feed // nil: polling alone
	WatchIDs []api.ID
	Workers  int           // reads under way at once; default 4
	Poll     time.Duration // how often open intents are read without a hint; default 30 s, widening
}

// NewWatcher makes a watcher.
func NewWatcher(cfg WatcherConfig) *Watcher { panic("unwritten") }

// Run works until ctx ends and returns after its goroutines have.
func (w *Watcher) Run(ctx context.Context) error { panic("unwritten") }

// Refresh asks for a read of an intent, ahead of everything else.
func (w *Watcher) Refresh(id api.ID) { panic("unwritten") }
