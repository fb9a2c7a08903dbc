package relay

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tillwatch/relay/journal"
)

// outcome is what became of a delivery: a label of fixed values, so that nobody
// outside can make more of them.
type outcome int

const (
	outcomeStored outcome = iota
	outcomeDuplicate
	outcomeConflict
	outcomeQuarantined
	outcomeChallenge
	outcomeUnauthorized
	outcomeTooLarge
	outcomeUnread
	outcomeCrowded
	outcomeUnavailable
	outcomes
)

func (o outcome) String() string {
	return [outcomes]string{"stored", "duplicate", "conflict", "quarantined", "challenge",
		"unauthorized", "too_large", "unread", "crowded", "unavailable"}[o]
}

// deliveriesMetric counts deliveries by their outcome.
const deliveriesMetric = "tillwatch_deliveries_total"

// metricsTimeout bounds what a scrape asks the journal.
const metricsTimeout = 2 * time.Second

// metrics are what GET /metrics tells, in a registry of this relay alone.
type metrics struct {
	handler    http.Handler
	deliveries [outcomes]prometheus.Counter
	bytes      prometheus.Counter
	backfilled prometheus.Counter
	evicted    prometheus.Counter
	store      prometheus.Histogram

	batches         [batchOutcomes]prometheus.Counter
	observed        prometheus.Counter
	observedAgain   prometheus.Counter
	observedTooMany prometheus.Counter
}

// batchOutcome is what became of a batch of observations.
type batchOutcome int

const (
	batchTaken batchOutcome = iota
	batchMalformed
	batchTooLarge
	batchTooFast
	batchUnavailable
	batchOutcomes
)

func (o batchOutcome) String() string {
	return [batchOutcomes]string{"taken", "malformed", "too_large", "too_fast", "unavailable"}[o]
}

func newMetrics(r *Relay) *metrics {
	registry := prometheus.NewRegistry()
	deliveries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: deliveriesMetric, Help: "Deliveries answered, by outcome.",
	}, []string{"outcome"})
	batches := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tillwatch_observation_batches_total", Help: "Batches of observations answered, by outcome.",
	}, []string{"outcome"})
	m := &metrics{
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_delivery_bytes_total", Help: "Bytes of the bodies whose signature was right."}),
		backfilled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_backfilled_total", Help: "Events that no delivery brought and the service's list did."}),
		evicted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_connections_evicted_total", Help: "Connections without a valid signature or token that were closed to make room."}),
		store: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tillwatch_store_seconds", Help: "Time until a delivery was durable, or given up.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}}),
		observed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_observations_received_total", Help: "Observations that were taken, each once."}),
		observedAgain: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_observations_repeated_total", Help: "Observations that were sent again and not counted."}),
		observedTooMany: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_observations_dropped_total", Help: "Observations that were let go before their hour was over, for want of room."}),
	}
	for o := range batchOutcomes {
		m.batches[o] = batches.WithLabelValues(o.String())
	}
	for o := range outcomes {
		m.deliveries[o] = deliveries.WithLabelValues(o.String())
	}
	registry.MustRegister(deliveries, m.bytes, m.backfilled, m.evicted, m.store, batches, m.observed, m.observedAgain, m.observedTooMany, r.wrongs.counts)
	registry.MustRegister(gauges(r)...)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(r.logger.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: 2,
		Timeout:             answerTimeout / 2,
	})
	return m
}

func (m *metrics) count(o outcome) { m.deliveries[o].Inc() }

func (m *metrics) countBatch(o batchOutcome) { m.batches[o].Inc() }

// gauges read how the relay is when they are asked for.
func gauges(r *Relay) []prometheus.Collector {
	all := []prometheus.Collector{
		gauge("tillwatch_journal_head", "Newest sequence number.", r.journal.Head),
		gauge("tillwatch_journal_oldest", "Oldest sequence number whose body is kept.", r.journal.Oldest),
		gauge("tillwatch_subscribers", "Subscribers that are connected.", func(context.Context) (int64, error) {
			return int64(r.Streams()), nil
		}),
		gauge("tillwatch_observations", "Observations of the last hour that streams read here.", func(context.Context) (int64, error) {
			return r.observing.board.count(), nil
		}),
		gauge("tillwatch_subscriber_lag_events", "Events that the slowest subscriber is behind the head.", func(ctx context.Context) (int64, error) {
			head, err := r.journal.Head(ctx)
			return r.hub.lag(head), err
		}),
		gauge("tillwatch_ready", "1 while deliveries can be stored.", func(ctx context.Context) (int64, error) {
			if r.ready(ctx) != nil {
				return 0, nil
			}
			return 1, nil
		}),
	}
	if sized, can := r.journal.Journal.(journal.Sized); can {
		all = append(all, gauge("tillwatch_journal_bytes", "Bytes that are in use for what is stored.", sized.Size))
	}
	return all
}

// gauge is NaN while its value cannot be read.
func gauge(name, help string, read func(context.Context) (int64, error)) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
		defer cancel()
		value, err := read(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(value)
	})
}
