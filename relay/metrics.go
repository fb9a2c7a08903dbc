package relay

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// outcome is what became of a delivery. It is a metric label with fixed values, so that
// nobody outside can create more.
type outcome string

const (
	outcomeStored       outcome = "stored"
	outcomeDuplicate    outcome = "duplicate"
	outcomeConflict     outcome = "conflict"
	outcomeQuarantined  outcome = "quarantined"
	outcomeChallenge    outcome = "challenge"
	outcomeUnauthorized outcome = "unauthorized"
	outcomeTooLarge     outcome = "too_large"
	outcomeUnread       outcome = "unread"
	outcomeUnavailable  outcome = "unavailable"
)

// deliveriesMetric counts deliveries by their outcome.
const deliveriesMetric = "tillwatch_deliveries_total"

// metricsTimeout bounds what a scrape asks the journal.
const metricsTimeout = 2 * time.Second

// metrics are what GET /metrics serves, in a registry of this relay's own.
type metrics struct {
	handler    http.Handler
	deliveries *prometheus.CounterVec
	bytes      prometheus.Counter
	backfilled prometheus.Counter
	evicted    prometheus.Counter
	store      prometheus.Histogram
}

func newMetrics(r *Relay) *metrics {
	registry := prometheus.NewRegistry()
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	byOutcome := func(name, help string, outcomes ...outcome) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"outcome"})
		registry.MustRegister(c)
		for _, o := range outcomes {
			c.WithLabelValues(string(o)) // present from the start, as 0
		}
		return c
	}
	m := &metrics{
		deliveries: byOutcome(deliveriesMetric, "Deliveries answered, by outcome.",
			outcomeStored, outcomeDuplicate, outcomeConflict, outcomeQuarantined, outcomeChallenge,
			outcomeUnauthorized, outcomeTooLarge, outcomeUnread, outcomeUnavailable),
		bytes:      counter("tillwatch_delivery_bytes_total", "Bytes of bodies with a valid signature."),
		backfilled: counter("tillwatch_backfilled_total", "Events of the service's list that no delivery brought."),
		evicted:    counter("tillwatch_connections_evicted_total", "Connections closed to make room for new ones."),
		store: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tillwatch_store_seconds", Help: "Time until a delivery was durable, or given up.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}}),
	}
	registry.MustRegister(m.store)
	registry.MustRegister(gauges(r)...)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(r.logger.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: 2,
		Timeout:             answerTimeout / 2,
	})
	return m
}

func (m *metrics) count(o outcome) { m.deliveries.WithLabelValues(string(o)).Inc() }

// gauges are computed when they are scraped.
func gauges(r *Relay) []prometheus.Collector {
	count := func(name, help string, read func() int64) prometheus.Collector {
		return gauge(name, help, func(context.Context) (int64, error) { return read(), nil })
	}
	return []prometheus.Collector{
		gauge("tillwatch_journal_head", "Newest sequence number.", r.journal.Head),
		gauge("tillwatch_journal_oldest", "Oldest sequence number whose body is kept.", r.journal.Oldest),
		count("tillwatch_journal_damaged", "Events that the check at the start found damaged.", r.readiness.damaged.Load),
		count("tillwatch_subscribers", "Connected subscribers.", func() int64 { return int64(r.hub.open()) }),
		count("tillwatch_observations", "Observations of the last hour kept.", func() int64 {
			items, _ := r.observations.count()
			return items
		}),
		gauge("tillwatch_subscriber_lag_events", "Events that the slowest subscriber lacks.",
			func(ctx context.Context) (int64, error) {
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
}

// readGauge is NaN while its value cannot be read. It is read while it is collected, at the same time as others: the
// library would ask functions one after another.
type readGauge struct {
	about *prometheus.Desc
	read  func(context.Context) (int64, error)
}

func gauge(name, help string, read func(context.Context) (int64, error)) prometheus.Collector {
	return readGauge{prometheus.NewDesc(name, help, nil, nil), read}
}

func (g readGauge) Describe(all chan<- *prometheus.Desc) { all <- g.about }

func (g readGauge) Collect(all chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), metricsTimeout)
	defer cancel()
	count, err := g.read(ctx)
	value := float64(count)
	if err != nil {
		value = math.NaN()
	}
	all <- prometheus.MustNewConstMetric(g.about, prometheus.GaugeValue, value)
}
