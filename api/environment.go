package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Environment is what answers at the base address.
type Environment struct {
	Name string `json:"name,omitempty"` // "production", "staging", "simulator", "unknown", or else the host
	// Live: real money may move. Only a stand-in, a staging host and a staging key are
	// known not to move any; everything else counts as live.
	Live bool `json:"live,omitempty"`
	// StandIn: the answer came from a stand-in for the service, and said so.
	StandIn bool `json:"standIn,omitempty"`
}

// Known reports whether the address, or an answer, has shown what answers there.
func (e Environment) Known() bool { return e.Name != unknown && e.Name != "" }

// Environment is the environment that answers: it follows from the address and the key
// or, on loopback, from the last answer, and is unknown there before the first one.
func (c *Client) Environment() Environment {
	if last := c.answered.Load(); last != nil {
		return *last
	}
	return c.environment
}

// Environments names what [Client.Environment] can turn out to be.
func (c *Client) Environments() []string {
	if c.onLoopback {
		return []string{simulator, c.environment.Name}
	}
	return []string{c.environment.Name}
}

const (
	production = "production"
	staging    = "staging"
	simulator  = "simulator"
	unknown    = "unknown"
)

// detectEnvironment reads the host's labels and the key's prefix, which public
// keys have in the form "<brand>/staging-…" and "<brand>/production-…". On loopback
// that is what answers there unless a stand-in does.
func detectEnvironment(base *url.URL, key Secret) (Environment, error) {
	host, prefix := hostEnvironment(base.Hostname()), KeyEnvironment(key)
	switch {
	case prefix == production && host == staging:
		return Environment{}, errors.New("the key is a production key, but the base URL is that of staging: use a staging key or the production address")
	case prefix == production && host == simulator:
		return Environment{}, errors.New("the key is a production key, but the base URL is a loopback address: use a key of the simulator")
	case prefix == staging && host == production:
		return Environment{}, errors.New("the key is a staging key, but the base URL is that of production: use the staging address")
	case prefix == production && base.Scheme == "http":
		return Environment{}, errors.New("the key is a production key, and http:// would send it in the clear: use https://")
	case host == staging || prefix == staging:
		return Environment{Name: staging}, nil
	case host == production || prefix == production:
		return Environment{Name: production, Live: true}, nil
	}
	name := string(Scrub(base.Host))
	if name == simulator || name == unknown { // a host of that name is neither
		name += ":" + PortOf(base)
	}
	return Environment{Name: name, Live: true}, nil
}

// answeredBy is who gave an answer to a request that asked with a word whether it
// is a stand-in.
func (c *Client) answeredBy(header http.Header, word string) Environment {
	from := c.environment
	if word != "" && answersAsStandIn(header, word) {
		from = ofStandIn()
	}
	if c.onLoopback {
		c.answered.Store(&from)
	}
	return from
}

func ofStandIn() Environment { return Environment{Name: simulator, StandIn: true} }

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

// KeyEnvironment is the environment that a key's prefix names: "production" or
// "staging"; "" for a key without one.
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
