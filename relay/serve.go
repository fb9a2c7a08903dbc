package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"tillwatch/api/listener"
)

// The limits of a relay's listeners.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	answerTimeout = 20 * time.Second // including reading
	idleTimeout   = 60 * time.Second
	maxHeader     = 16 << 10

	drainTimeout = 10 * time.Second
	// strangersTimeout is how long a drain waits for the connections of strangers: longer than it takes to store the
	// first event of a new connection.
	strangersTimeout = 3 * time.Second
)

// Serve serves everything on one listener until ctx ends, then drains: not ready, no new connections, requests
// finished, bye to the subscribers. It returns nil after a complete drain.
func (r *Relay) Serve(ctx context.Context, ln net.Listener) error {
	return r.serve(ctx, site{ln, r.Handler()})
}

// ServeSplit is [Relay.Serve] with the ingest and the admin side on
// listeners of their own.
func (r *Relay) ServeSplit(ctx context.Context, ingest, admin net.Listener) error {
	return r.serve(ctx, site{ingest, r.Ingest()}, site{admin, r.Admin()})
}

// site is a listener and its handler.
type site struct {
	listener net.Listener
	handler  http.Handler
}

func (r *Relay) serve(ctx context.Context, sites ...site) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var servers []*http.Server
	var all []*places
	var tasks sync.WaitGroup
	failed := make(chan error, len(sites)+1)
	tasks.Go(func() { r.audit(ctx) })
	if r.retention > 0 {
		tasks.Go(func() { r.retain(ctx) })
	}
	if r.backfill.list != nil {
		tasks.Go(func() { r.backfill.run(ctx) })
	}
	for _, s := range sites {
		server := &http.Server{
			Handler:           listener.Framed(s.handler),
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      answerTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          slog.NewLogLogger(r.logger.Handler(), slog.LevelDebug),
			ConnContext:       withPlace,
		}
		servers = append(servers, server)
		held := newPlaces(s.listener, r.logger, r.metrics.evicted.Inc)
		all = append(all, held)
		tasks.Go(func() {
			var connections net.Listener = held
			if r.tls != nil {
				connections = tls.NewListener(connections, r.tls)
			}
			err := server.Serve(connections)
			if !errors.Is(err, http.ErrServerClosed) {
				failed <- err
				cancel()
			}
		})
	}
	<-ctx.Done()
	r.logger.Info("shutting down", slog.String("reason", context.Cause(ctx).Error()))
	err := r.drain(servers, all)
	tasks.Wait()
	close(failed)
	for failure := range failed {
		err = errors.Join(err, failure)
	}
	return err
}

// drain ends servers in an order that loses nothing: deliveries being stored get their answer, then subscribers
// their bye. Strangers hold up neither.
func (r *Relay) drain(servers []*http.Server, all []*places) error {
	r.draining.Store(true)
	for _, held := range all {
		defer time.AfterFunc(strangersTimeout, held.closeStrangers).Stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	var errs []error
	var tasks sync.WaitGroup
	var mu sync.Mutex
	for _, server := range servers {
		tasks.Go(func() {
			err := server.Shutdown(ctx)
			if err != nil {
				err = errors.Join(err, server.Close())
			}
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	tasks.Wait()
	return errors.Join(append(errs, r.Shutdown(ctx))...)
}
