package proxy

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tillwatch/api/quota"
)

// maxBuckets bounds the exported buckets: the service chooses their names.
const maxBuckets = 32

// metrics are the proxy's metrics for Prometheus, in a registry of its own.
type metrics struct {
	handler    http.Handler
	requests   *prometheus.CounterVec
	refusals   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	unanswered prometheus.Counter
	remaining  *prometheus.GaugeVec

	mu    sync.Mutex
	known map[bucket]bool
}

// bucket holds the labels of a bucket's gauge.
type bucket struct{ class, policy, limit, window string }

func newMetrics(p *Proxy, droppedLater func() int64) *metrics {
	registry := prometheus.NewRegistry()
	register := promauto.With(registry)
	m := &metrics{
		requests: register.NewCounterVec(prometheus.CounterOpts{
			Name: "tillwatch_proxy_requests_total",
			Help: "Requests passed on, by class and by the first digit of the status; none: no answer came.",
		}, []string{"class", "status"}),
		refusals: register.NewCounterVec(prometheus.CounterOpts{
			Name: "tillwatch_proxy_refusals_total", Help: "Requests that the service refused with 429, by class.",
		}, []string{"class"}),
		seconds: register.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tillwatch_proxy_seconds", Help: "Time until the end of the answer, by class.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"class"}),
		unanswered: register.NewCounter(prometheus.CounterOpts{
			Name: "tillwatch_proxy_unanswered_total",
			Help: "Requests that the service did not answer, and the proxy did with 502.",
		}),
		remaining: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tillwatch_proxy_quota_remaining",
			Help: "What the service last said is left, by bucket: until its window, in seconds, ends.",
		}, []string{"class", "policy", "limit", "window"}),
		known: map[bucket]bool{},
	}
	register.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tillwatch_proxy_connections", Help: "Connections of clients.",
	}, p.clients.count)
	register.NewCounterFunc(prometheus.CounterOpts{
		Name: "tillwatch_proxy_observations_dropped_total", Help: "Observations that could not be reported.",
	}, func() float64 {
		n := p.queue.dropped.Load()
		if droppedLater != nil {
			n += droppedLater()
		}
		return float64(n)
	})
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(p.logger.Handler(), slog.LevelWarn), MaxRequestsInFlight: 2,
	})
	return m
}

func (m *metrics) count(o *quota.Observation) {
	class := cmp.Or(string(o.Class), "other")
	m.requests.WithLabelValues(class, firstDigit(o.Status)).Inc()
	m.seconds.WithLabelValues(class).Observe(o.Latency.Seconds())
	if o.Status == http.StatusTooManyRequests {
		m.refusals.WithLabelValues(class).Inc()
	}
	for i := range o.Reports {
		r := &o.Reports[i]
		b := bucket{class: class, policy: r.Policy}
		if r.PolicyKnown {
			b.limit, b.window = strconv.FormatInt(r.Limit, 10), strconv.FormatFloat(r.Window.Seconds(), 'f', -1, 64)
		}
		if r.RemainingKnown && m.knows(b) {
			m.remaining.WithLabelValues(b.class, b.policy, b.limit, b.window).Set(float64(r.Remaining))
		}
	}
}

// knows reports whether a bucket is exported.
func (m *metrics) knows(b bucket) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known[b] && len(m.known) < maxBuckets {
		m.known[b] = true
	}
	return m.known[b]
}

func firstDigit(status int) string {
	if status == 0 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
