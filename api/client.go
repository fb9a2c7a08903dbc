package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"tillwatch/api/quota"
)

// Pacer decides when a request may go out. [quota.Pacer] is one.
type Pacer interface {
	// Acquire waits until a request of class may go out. The client calls Done of
	// the permit once the request has ended.
	Acquire(ctx context.Context, class quota.Class) (quota.Permit, error)
}

// Config says how to reach the service. BaseURL and Key are required; every other
// zero field stands for its default.
type Config struct {
	BaseURL    string            // http or https, without /api/v1
	Key        Secret            // the API key (contract, Authentication)
	LookupPath string            // of the product lookup; default /api/v1/products/lookup
	UserAgent  string            // default "tillwatch"
	Timeout    time.Duration     // of one attempt, from the dial to the end of the body; default [AttemptTimeout]
	Retries    int               // of a read, after the first attempt; default 2, none when negative
	Pacer      Pacer             // spaces requests out; default: they go out at once
	Observe    func(Exchange)    // called after each attempt, from the goroutine that made it; default: nobody
	Transport  http.RoundTripper // default: one of the client's own, which honours HTTPS_PROXY

	StandIn      bool // the base URL is that of a stand-in which this process runs
	InsecureHTTP bool // allow http:// to another machine, where everyone on the way can read the key
}

// AttemptTimeout is how long an attempt of a request may take, unless a client is configured otherwise.
const AttemptTimeout = 15 * time.Second

const (
	defaultUserAgent = "tillwatch"
	defaultRetries   = 2
)

// Client calls the service. It is safe for concurrent use.
type Client struct {
	base        *url.URL
	key         atomic.Pointer[Secret]
	lookupPath  string
	userAgent   string
	timeout     time.Duration
	retries     int
	pacer       Pacer
	observe     func(Exchange)
	reads       *http.Client
	mutations   *http.Client
	environment Environment // by the address and the key alone
	onLoopback  bool
	answered    atomic.Pointer[Environment] // on loopback: by the last answer

	// The contract has no such lists: the first answer shows whether the service does.
	intentsRefused, eventsRefused atomic.Bool
}

// New checks cfg and makes a client. It opens no connection. It refuses a key that
// belongs to another environment than the base URL, and one that would travel
// unencrypted.
func New(cfg Config) (*Client, error) {
	base, err := parseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := CheckKey(cfg.Key); err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	env, err := detectEnvironment(base, cfg.Key)
	if err != nil {
		return nil, err
	}
	if err := CheckClearText(base, "the API key"); err != nil && !cfg.InsecureHTTP {
		return nil, err
	}
	lookup := cmp.Or(cfg.LookupPath, quota.DefaultLookupPath)
	if !strings.HasPrefix(lookup, "/") || strings.ContainsAny(lookup, "?#") {
		return nil, errors.New("product lookup path: want a path that begins with / and has no query, like " + quota.DefaultLookupPath)
	}
	agent := cmp.Or(cfg.UserAgent, defaultUserAgent)
	if string(Scrub(agent)) != agent {
		return nil, errors.New("user agent: holds a line break or another character that cannot be sent")
	}
	c := &Client{
		base:        base,
		lookupPath:  lookup,
		userAgent:   agent,
		timeout:     cfg.Timeout,
		retries:     cmp.Or(cfg.Retries, defaultRetries),
		pacer:       cfg.Pacer,
		observe:     cfg.Observe,
		environment: env,
		onLoopback:  Loopback(base.Hostname()),
	}
	c.key.Store(&cfg.Key)
	if c.onLoopback {
		first := Environment{Name: unknown, Live: env.Live}
		if cfg.StandIn {
			first = ofStandIn()
		}
		c.answered.Store(&first)
	}
	if c.timeout <= 0 {
		c.timeout = AttemptTimeout
	}
	if c.observe == nil {
		c.observe = func(Exchange) {}
	}
	reads, mutations := cfg.Transport, cfg.Transport
	if cfg.Transport == nil {
		// A mutation has a connection of its own: the service may close an idle one just as the request is written to it,
		// and then nobody knows whether it was read.
		own := TransportTo(base.Hostname())
		own.MaxIdleConnsPerHost = -1 // none
		reads, mutations = TransportTo(base.Hostname()), own
	}
	c.reads, c.mutations = &http.Client{Transport: reads, CheckRedirect: stay}, &http.Client{Transport: mutations, CheckRedirect: stay}
	return c, nil
}

// UseKey replaces the key for all further requests, as when the account's is
// rotated. A key that points at another environment is refused: what is known and
// shown of this one would be taken for that.
func (c *Client) UseKey(key Secret) error {
	if err := CheckKey(key); err != nil {
		return fmt.Errorf("API key: %w", err)
	}
	env, err := detectEnvironment(c.base, key)
	if err != nil {
		return err
	}
	if env != c.environment {
		return fmt.Errorf("the key is one of %s, and this run looks at %s: start again to change that", env.Name, c.environment.Name)
	}
	c.key.Store(&key)
	return nil
}

// Uses reports whether requests carry a key.
func (c *Client) Uses(key Secret) bool { return c.key.Load().Equal(key) }

// stay follows no redirect: it could carry the key to another host, or turn a
// POST into a GET.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close closes the connections that no request is on.
func (c *Client) Close() { c.reads.CloseIdleConnections() }

// TransportTo makes the transport for requests to a host. It goes directly to this
// machine, and bounds what the host can make it hold.
//
// It speaks HTTP/1.1: net/http speaks HTTP/2 over its own dialer only, and there repeats
// a request by itself, without end, while its stream is reset with PROTOCOL_ERROR. The
// service may have processed a confirm before such a reset.
func TransportTo(host string) *http.Transport {
	return &http.Transport{
		Proxy:                  ProxyTo(host),
		DialContext:            DialerTo(host).DialContext,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    5 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// CheckBaseURL says what is wrong with the address of a service; nil when nothing
// is.
func CheckBaseURL(s string) error {
	_, err := parseBaseURL(s)
	return err
}

// parseBaseURL never quotes what it was given: it may hold a password.
func parseBaseURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("missing: set the service's address, like https://api.example.com")
	}
	base, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("cannot be read: want an address like https://api.example.com")
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("must begin with https:// or http://")
	case base.User != nil:
		return nil, errors.New("must not hold a user name or password: the key goes into the API key setting")
	case base.Hostname() == "":
		return nil, errors.New("has no host: want an address like https://api.example.com")
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, errors.New("must not hold a query or a fragment")
	}
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), ""
	if strings.HasSuffix(base.Path, "/api/v1") || strings.HasSuffix(base.Path, "/api") {
		return nil, errors.New("must not end in /api/v1: that part is added to each call")
	}
	return base, nil
}

// CheckKey says why a request cannot carry a key, without repeating it; nil when it
// can.
func CheckKey(key Secret) error {
	if key.IsZero() {
		return errors.New("missing")
	}
	for _, r := range key.Reveal() {
		if r <= ' ' || r > '~' {
			return errors.New("holds a space, a line break or another character that no key has: was it copied whole?")
		}
	}
	return nil
}
