package relay

import (
	"context"
	"log/slog"
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

// metricsTimeout bounds what a scrape asks the journal.
const metricsTimeout = 2 * time.Second

// metrics are what GET /metrics tells, in a registry of this relay alone.
type metrics struct {
	handler    http.Handler
	deliveries [outcomes]prometheus.Counter
	bytes      prometheus.Counter
	backfilled prometheus.Counter
	shownOut   prometheus.Counter
	store      prometheus.Histogram
}

func newMetrics(r *Relay) *metrics {
	registry := prometheus.NewRegistry()
	deliveries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tillwatch_deliveries_total", Help: "Deliveries answered, by outcome.",
	}, []string{"outcome"})
	m := &metrics{
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_delivery_bytes_total", Help: "Bytes of the bodies whose signature was right."}),
		backfilled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_backfilled_total", Help: "Events that no delivery brought and the service's list did."}),
		shownOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_connections_evicted_total", Help: "Connections without a valid signature or token that were closed to make room."}),
		store: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tillwatch_store_seconds", Help: "Time until a delivery was durable, or given up.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}}),
	}
	for o := range outcomes {
		m.deliveries[o] = deliveries.WithLabelValues(o.String())
	}
	registry.MustRegister(deliveries, m.bytes, m.backfilled, m.shownOut, m.store, newState(r))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(r.logger.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: 2,
		Timeout:             answerTimeout / 2,
	})
	return m
}

func (m *metrics) count(o outcome) { m.deliveries[o].Inc() }

// state reads the gauges when they are asked for.
type state struct {
	relay                                   *Relay
	head, oldest, size, streams, lag, ready *prometheus.Desc
}

func newState(r *Relay) *state {
	gauge := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return &state{
		relay:   r,
		head:    gauge("tillwatch_journal_head", "Newest sequence number."),
		oldest:  gauge("tillwatch_journal_oldest", "Oldest sequence number whose body is kept."),
		size:    gauge("tillwatch_journal_bytes", "Bytes that are in use for what is stored."),
		streams: gauge("tillwatch_subscribers", "Subscribers that are connected."),
		lag:     gauge("tillwatch_subscriber_lag_events", "Events that the slowest subscriber is behind the head."),
		ready:   gauge("tillwatch_ready", "1 while deliveries can be stored."),
	}
}

// Describe implements [prometheus.Collector].
func (s *state) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.head, s.oldest, s.size, s.streams, s.lag, s.ready} {
		out <- d
	}
}

// Collect implements [prometheus.Collector]. What the journal cannot tell now is
// left out.
func (s *state) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
	defer cancel()
	tell := func(d *prometheus.Desc, value int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value))
	}
	j := s.relay.journal
	if head, err := j.Head(ctx); err == nil {
		tell(s.head, head)
		tell(s.lag, s.relay.hub.lag(head))
	}
	if oldest, err := j.Oldest(ctx); err == nil {
		tell(s.oldest, oldest)
	}
	if sized, can := j.Journal.(journal.Sized); can {
		if size, err := sized.Size(ctx); err == nil {
			tell(s.size, size)
		}
	}
	tell(s.streams, int64(s.relay.Streams()))
	ready := int64(0)
	if s.relay.ready(ctx) == nil {
		ready = 1
	}
	tell(s.ready, ready)
}
