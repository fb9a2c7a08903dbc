package account

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Store is the picture. It is safe for use by several goroutines.
type Store struct{}

// StoreConfig sets a store up.
type StoreConfig struct {
	ConfirmWindow time.Duration                      // default api.ConfirmWindow
	KeepEvents    int                                // default 5,000
	KeepRequests  int                                // default 500
	Quota         func(now time.Time) []quota.Bucket // nil: none
	AgentsLimit   int                                // default 10
	DayLimit      int                                // default 50
}

// NewStore makes an empty picture.
func NewStore(cfg StoreConfig) *Store { panic("unwritten") }

// Changes returns what changed after version since; 0 gives the whole picture.
func (s *Store) Changes(since uint64) Changes { panic("unwritten") }

// Wait returns once the picture is newer than since, or when ctx ends.
func (s *Store) Wait(ctx context.Context, since uint64) error { panic("unwritten") }

// Intent returns what is known of one intent.
func (s *Store) Intent(id api.ID) (*Intent, bool) { panic("unwritten") }

// RecordExchange keeps a request for the picture and judges the API's health.
// It is an [api.Config.Observe].
func (s *Store) RecordExchange(e api.Exchange) { panic("unwritten") }

// ApplyRead merges the answer to a read of an intent that was sent at sent.
func (s *Store) ApplyRead(in api.Intent, sent time.Time, how Learnt) { panic("unwritten") }
