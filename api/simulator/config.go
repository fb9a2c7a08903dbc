package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Config configures a simulator. The zero value of each field means its default.
type Config struct {
	Key           api.Secret // API key that may do everything; required
	SigningSecret api.Secret // for webhooks; required when WebhookURL is set
	WebhookURL    string     // where events are delivered; "" for nowhere
	HeaderPrefix  string     // of the four delivery headers; default "x-svc-"
	LookupPath    string     // of the product lookup; default "/api/v1/products/lookup"

	At   time.Time // what the service's clock shows at the start; default: the machine's time
	From []byte    // a snapshot to begin with in place of a history; its moment becomes At; nil: none

	Seed                   uint64
	Speed                  float64 // 1: as the service; 10: ten times as fast
	IntentsPerMinute       float64 // a real minute, whatever the speed, created by the simulated shop; 0: none
	AutoConfirm            float64 // share of the shop's intents that it confirms itself; default 0.85, negative: none
	FailureShare           float64 // share of the shop's intents that fail; default 0.12, negative: none
	ManyItems              float64 // share of the shop's orders that have two to four items, each an intent; default none
	ShopURL                string  // base URL at which the shop calls the service over HTTP, as through a proxy; "": it acts within the process
	ProductEventsPerMinute float64 // default 0.7 while the shop creates intents, negative: none
	History                int     // past intents at the start; default 25, negative: none

	Timings Timings
	Limits  Limits
	Faults  Faults

	EveryPolicy           bool // a header line for each charged bucket, each under its own name
	Lists                 bool // serve GET /api/v1/checkout-intents and /api/v1/events, which the contract does not show
	StateConflicts        bool // a confirm in a wrong state answers 409 with the state, not 404
	IgnoreIdempotencyKeys bool // a POST whose Idempotency-Key was used before takes effect again
	RememberFailures      bool // an Idempotency-Key that was used is answered as before even if that was a failure, but for what never began: a 401, 403, 422 or 429
	Retries               int  // of a failed delivery; default all of [RetryPauses], negative: none

	Transport http.RoundTripper // for deliveries; default: a transport of its own
	Logger    *slog.Logger      // default: nothing is logged
}

// Timings are how long things take at speed 1. Actual times vary around them.
type Timings struct {
	Offer         time.Duration // default 8 s
	Placing       time.Duration // default 12 s
	ConfirmWindow time.Duration // default 45 min from creation
	ShipmentStep  time.Duration // default 40 s between two statuses
	Spread        float64       // of the variation, on a logarithmic scale; default 0.35, negative: exact times
}

// Closed is a limit that lets nothing through.
const Closed = math.MinInt

// Limits are the buckets of the contract (Limits). Zero means the contract's default, [Closed] that nothing passes,
// and another negative number that there is no such bucket: it sends no RateLimit fields.
type Limits struct {
	Mutations, Reads, Lookup int // a second; default 5, 10, 10
	PerDay                   int // a UTC day; default 50
	Agents                   int // default 10
}

// Bucket is the limit of the bucket of this name; nil if there is no such bucket.
func (l *Limits) Bucket(name string) *int {
	return map[string]*int{"mutations": &l.Mutations, "reads": &l.Reads, "product-lookup": &l.Lookup, "checkout-intents": &l.PerDay, "concurrent-agents": &l.Agents}[name]
}

// Unlimited has no bucket at all.
func Unlimited() Limits { return Limits{-1, -1, -1, -1, -1} }

// Faults are shares from 0 to 1, but for Delay, LateBy and Latency.
type Faults struct {
	Duplicate    float64       // deliveries that are made twice
	Reorder      float64       // deliveries that are held back and overtaken by later ones
	Lose         float64       // deliveries that never happen
	BadSignature float64       // first attempts that carry a wrong signature or none
	Delay        time.Duration // before each delivery
	Errors       float64       // API answers: a 500; half of those to mutations after they took effect
	Drop         float64       // API answers that never come, as the connection breaks; half of those to mutations after they took effect
	Twice        float64       // mutations that arrive twice, as if doubled on their way, and take effect twice unless they carry an Idempotency-Key; the answer is the second's
	Late         float64       // API requests that are held back for up to LateBy; half of the mutations after they took effect
	LateBy       time.Duration // default 20 s
	Latency      time.Duration // before each API answer
}

// complete checks the configuration and fills defaults in.
func (c *Config) complete() error {
	if c.Key.IsZero() {
		return errors.New("an API key is required")
	}
	if c.WebhookURL != "" {
		if err := checkWebhookURL(c.WebhookURL); err != nil {
			return err
		}
		if c.SigningSecret.IsZero() {
			return errors.New("a signing secret is required to deliver webhooks")
		}
	}
	if err := c.checkNumbers(); err != nil {
		return err
	}
	if c.ShopURL != "" {
		if err := api.CheckBaseURL(c.ShopURL); err != nil {
			return fmt.Errorf("the shop's URL: %w", err)
		}
	}
	if strings.ContainsAny(c.HeaderPrefix, " :\r\n\t") {
		return fmt.Errorf("header prefix %q holds characters that no header name may", c.HeaderPrefix)
	}
	if err := checkLookupPath(c.LookupPath); err != nil {
		return err
	}
	c.fill()
	return nil
}

func checkLookupPath(lookup string) error {
	if lookup == "" {
		return nil
	}
	if !strings.HasPrefix(lookup, "/") {
		return fmt.Errorf("lookup path %q must begin with a slash", lookup)
	}
	if strings.ContainsAny(lookup, "{} %?#") || path.Clean(lookup) != lookup || lookup == "/" {
		return fmt.Errorf("lookup path %q must be a plain path", lookup)
	}
	for _, taken := range []string{"/control", "/api/v1/checkout-intents", "/api/v1/shipments", "/api/v1/events"} {
		if lookup == taken || strings.HasPrefix(lookup, "/control/") {
			return fmt.Errorf("lookup path %q is taken by another endpoint", lookup)
		}
	}
	return nil
}

func (c *Config) checkNumbers() error {
	f := c.Faults
	for name, share := range map[string]float64{
		"auto confirm": max(c.AutoConfirm, 0), "failure": max(c.FailureShare, 0), "many items": c.ManyItems,
		"duplicate": f.Duplicate, "reorder": f.Reorder, "lose": f.Lose, "bad signature": f.BadSignature,
		"errors": f.Errors, "drop": f.Drop, "twice": f.Twice, "late": f.Late,
	} {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("%s share is %v; it must be from 0 to 1", name, share)
		}
	}
	if c.Speed != 0 && !(c.Speed >= 0.001 && c.Speed <= 1e6) {
		return fmt.Errorf("speed is %v; it must be from 0.001 to 1000000", c.Speed)
	}
	if !(c.IntentsPerMinute >= 0 && c.IntentsPerMinute <= 60_000) {
		return fmt.Errorf("intents per minute is %v; it must be from 0 to 60000", c.IntentsPerMinute)
	}
	if c.History > 1_000_000 {
		return fmt.Errorf("history is %d intents; at most 1000000", c.History)
	}
	for name, d := range map[string]time.Duration{
		"offer": c.Timings.Offer, "placing": c.Timings.Placing, "confirm window": c.Timings.ConfirmWindow,
		"shipment step": c.Timings.ShipmentStep, "delay": f.Delay, "late by": f.LateBy, "latency": f.Latency,
	} {
		if d < 0 || d > 365*day {
			return fmt.Errorf("the duration %s is %v; it must be from 0 to 365 days", name, d)
		}
	}
	if !c.At.IsZero() && time.Until(c.At).Abs() > 100*365*day {
		return fmt.Errorf("the clock begins at %s; it must be within 100 years of now", c.At.Format(time.RFC3339))
	}
	return nil
}

func (c *Config) fill() {
	c.HeaderPrefix = cmp.Or(c.HeaderPrefix, "x-svc-")
	c.LookupPath = cmp.Or(c.LookupPath, quota.DefaultLookupPath)
	c.Speed = cmp.Or(c.Speed, 1)
	c.AutoConfirm = cmp.Or(c.AutoConfirm, 0.85)
	c.FailureShare = cmp.Or(c.FailureShare, 0.12)
	c.ProductEventsPerMinute = cmp.Or(c.ProductEventsPerMinute, 0.7)
	c.History = cmp.Or(c.History, 25)
	c.Timings.Offer = cmp.Or(c.Timings.Offer, 8*time.Second)
	c.Timings.Placing = cmp.Or(c.Timings.Placing, 12*time.Second)
	c.Timings.ConfirmWindow = cmp.Or(c.Timings.ConfirmWindow, api.ConfirmWindow)
	c.Timings.ShipmentStep = cmp.Or(c.Timings.ShipmentStep, 40*time.Second)
	c.Timings.Spread = cmp.Or(c.Timings.Spread, 0.35)
	c.Faults.LateBy = cmp.Or(c.Faults.LateBy, 20*time.Second)
	for name, contract := range map[string]int{"mutations": 5, "reads": 10, "product-lookup": 10, "checkout-intents": 50, "concurrent-agents": 10} {
		switch limit := c.Limits.Bucket(name); *limit {
		case 0:
			*limit = contract
		case Closed:
			*limit = 0
		}
	}
	if c.Retries == 0 || c.Retries > len(RetryPauses()) {
		c.Retries = len(RetryPauses())
	}
	c.HeaderPrefix = strings.ToLower(c.HeaderPrefix)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// secrets returns what no answer and no log may contain.
func (c *Config) secrets() []api.Secret {
	return []api.Secret{c.Key, c.SigningSecret}
}

func checkWebhookURL(raw string) error {
	if _, err := url.Parse(raw); err != nil {
		return errors.New("the webhook URL cannot be read as a URL")
	}
	if !isWebAddress(raw) {
		return errors.New("the webhook URL must be absolute and begin with http:// or https://")
	}
	return nil
}
