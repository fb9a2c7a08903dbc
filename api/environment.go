package api

import (
	"errors"
	"net/url"
	"strings"
)

// environment is what the base address and the key together point at.
type environment struct {
	name string
	live bool
}

// Environment names what the base address and the key point at: "production",
// "staging", "simulator" for a loopback address, or else the host.
func (c *Client) Environment() string { return c.environment.name }

// Live reports whether real money may move. Only a loopback address, a staging
// host and a staging key are known not to; everything else counts as live.
func (c *Client) Live() bool { return c.environment.live }

const (
	production = "production"
	staging    = "staging"
	simulator  = "simulator"
)

// detectEnvironment reads the host's labels and the key's prefix, which public
// keys have in the form "<brand>/staging-…" and "<brand>/production-…".
func detectEnvironment(base *url.URL, key Secret) (environment, error) {
	host, prefix := hostEnvironment(base.Hostname()), KeyEnvironment(key)
	switch {
	case prefix == production && host == staging:
		return environment{}, errors.New("the key is a production key, but the base URL is that of staging: use a staging key or the production address")
	case prefix == production && host == simulator:
		return environment{}, errors.New("the key is a production key, but the base URL is a loopback address: use a key of the simulator")
	case prefix == staging && host == production:
		return environment{}, errors.New("the key is a staging key, but the base URL is that of production: use the staging address")
	case prefix == production && base.Scheme == "http":
		return environment{}, errors.New("the key is a production key, and http:// would send it in the clear: use https://")
	case host == simulator:
		return environment{name: simulator}, nil
	case host == staging || prefix == staging:
		return environment{name: staging}, nil
	case host == production || prefix == production:
		return environment{name: production, live: true}, nil
	}
	return environment{name: string(Scrub(base.Host)), live: true}, nil
}

func hostEnvironment(host string) string {
	host = strings.ToLower(host)
	if Loopback(host) {
		return simulator
	}
	// Whole words only: a name that merely contains one proves nothing.
	for _, word := range strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		switch word {
		case "staging", "sandbox":
			return staging
		case "production", "prod", "live":
			return production
		}
	}
	return ""
}

// KeyEnvironment is what a key says of itself by its prefix: "production",
// "staging" or, of a key without one, "".
func KeyEnvironment(key Secret) string {
	text := key.Reveal()
	name := text[strings.LastIndexByte(text, '/')+1:]
	switch {
	case strings.HasPrefix(name, staging+"-"):
		return staging
	case strings.HasPrefix(name, production+"-"):
		return production
	}
	return ""
}
