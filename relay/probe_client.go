package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"tillwatch/api"
)

// Paths of the probes, and their answers when all is well.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
	liveWord  = "alive"
	readyWord = "ready"
)

// maxReason bounds how much of a probe's answer is read, in bytes.
const maxReason = 4 << 10

// UnreadyError says that a relay cannot store deliveries now.
type UnreadyError struct{ Reason api.Text }

// Error repeats what the relay says.
func (e *UnreadyError) Error() string { return "the relay is not ready: " + string(e.Reason) }

// Probe asks a relay whether it is alive or ready.
type Probe struct {
	url    string
	word   string // the answer when all is well
	client *http.Client
}

// Dial opens a connection.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// NewProbe takes a relay's address, with the path of a probe; without one it asks whether the relay is ready. dial
// may be nil for the usual connection, through a proxy if one is configured. The certificate of a relay on this
// machine is not verified: nothing is in between, and nothing secret is sent.
func NewProbe(relayURL string, dial Dial) (*Probe, error) {
	u, err := url.Parse(relayURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the relay's URL begins with http:// or https://, as in http://127.0.0.1:7430")
	case u.Hostname() == "":
		return nil, errors.New("the relay's URL names no host: give one as in http://127.0.0.1:7430")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the relay's URL carries more than scheme, host and path: a probe needs no token")
	}
	p := &Probe{word: readyWord}
	switch u.Path = strings.TrimSuffix(u.Path, "/"); {
	case strings.HasSuffix(u.Path, readyPath):
	case strings.HasSuffix(u.Path, livePath):
		p.word = liveWord
	case strings.HasSuffix(u.Path, WebhookPath):
		return nil, errors.New("this is where the service delivers: give the relay's URL without " + WebhookPath)
	case strings.HasSuffix(u.Path, StreamPath):
		return nil, fmt.Errorf("%s is the path of the stream: leave it out, or give %s or %s", StreamPath, readyPath, livePath)
	default:
		u.Path += readyPath
	}
	p.url = u.String()
	transport := api.TransportTo(u.Hostname())
	transport.DisableKeepAlives = true
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: api.Loopback(u.Hostname())}
	if dial != nil {
		transport.Proxy, transport.DialContext = nil, dial
	}
	p.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p, nil
}

// URL returns the probed address.
func (p *Probe) URL() string { return p.url }

// Ask returns the status of the answer, 0 if there is none before ctx ends, and what is wrong: an [UnreadyError]
// if the relay says so itself.
func (p *Probe) Ask(ctx context.Context) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", p.url, err)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return 0, unanswered(p.url, err)
	}
	defer answer.Body.Close()
	said, _ := bufio.NewReader(io.LimitReader(answer.Body, maxReason)).ReadString('\n') // the status counts
	reason := api.Scrub(strings.TrimSpace(said))
	switch {
	case answer.StatusCode == http.StatusOK && string(reason) == p.word:
		return answer.StatusCode, nil
	case answer.StatusCode == http.StatusServiceUnavailable && reason != "":
		return answer.StatusCode, &UnreadyError{reason}
	case answer.StatusCode == http.StatusBadRequest && strings.HasSuffix(string(reason), "to an HTTPS server."):
		return answer.StatusCode, fmt.Errorf("what answers at %s speaks TLS: give https://", p.url)
	}
	return answer.StatusCode, fmt.Errorf("what answers at %s with %d is not a relay, or is a proxy in front of one", p.url, answer.StatusCode)
}

// nobody says that nothing answers at an address.
type nobody struct {
	address string
	*net.OpError
}

func (e nobody) Error() string { return "nothing answers at " + e.address + ": " + e.Err.Error() }
func (e nobody) Unwrap() error { return e.OpError }

// unanswered says why a request to an address got no answer.
func unanswered(address string, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	err = api.Proxied(address, err)
	var proxied *api.ProxiedError
	var unverified *tls.CertificateVerificationError
	var wrongName x509.HostnameError
	var dialled *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered in time", address)
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s is for another name: %w", address, wrongName)
	case errors.As(err, &unverified):
		return fmt.Errorf("the certificate of %s cannot be trusted: %w", address, unverified.Err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("what answers at %s does not speak TLS: give http://", address)
	case errors.As(err, &dialled) && !errors.As(err, &proxied):
		return nobody{address, dialled}
	}
	return fmt.Errorf("%s has not answered: %w", address, err)
}
