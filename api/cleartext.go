package api

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// ClearTextError refuses an address to which a secret would go unencrypted.
type ClearTextError struct {
	Secret string // what would go there, as in "the API key"
	Scheme string // http or ws
	Host   string // of the address, with its port
}

// Error says where the secret would go and what to use instead.
func (e *ClearTextError) Error() string {
	return fmt.Sprintf("%s://%s would carry %s unencrypted to another machine: use %ss://", e.Scheme, e.Host, e.Secret, e.Scheme)
}

// CheckClearText returns a [ClearTextError] when a secret that is sent to u leaves
// this machine unencrypted.
func CheckClearText(u *url.URL, secret string) error {
	if u.Scheme != "http" && u.Scheme != "ws" || Loopback(u.Hostname()) {
		return nil
	}
	return &ClearTextError{Secret: secret, Scheme: u.Scheme, Host: string(Scrub(u.Host))}
}

// Loopback reports whether host is a name or an address of this machine. What
// connects to one by its name dials with [DialerTo].
func Loopback(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// HostOf is the host of an address; "" if it has none.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// PortOf is the port of an address, or else the usual one of its scheme.
func PortOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme])
}

// DialerTo makes a dialer for a host. For one of this machine it connects to no
// other one, wherever the name leads.
func DialerTo(host string) *net.Dialer {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	if Loopback(host) {
		dialer.ControlContext = stayHere
	}
	return dialer
}

func stayHere(_ context.Context, _, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("a name of this machine leads to %s, on another machine", address)
	}
	return nil
}

// ProxyTo is the proxy for requests to a host: that of the environment, none for
// this machine.
func ProxyTo(host string) func(*http.Request) (*url.URL, error) {
	if Loopback(host) {
		return nil
	}
	return http.ProxyFromEnvironment
}

// ProxiedError is why a connection through the environment's proxy failed. The reason may be the proxy's own.
type ProxiedError struct {
	Proxy string // its host and port
	Err   error
}

func (e *ProxiedError) Error() string { return "through the proxy " + e.Proxy + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ProxiedError) Unwrap() error { return e.Err }

// Proxied returns why a connection to an address failed: a [ProxiedError] if it went through a proxy.
func Proxied(address string, err error) error {
	to, _ := url.Parse(address)
	if to == nil || Loopback(to.Hostname()) {
		return err
	}
	to.Scheme = strings.Replace(to.Scheme, "ws", "http", 1)
	proxy, _ := http.ProxyFromEnvironment(&http.Request{URL: to})
	if proxy == nil {
		return err
	}
	return &ProxiedError{Proxy: string(Scrub(proxy.Host)), Err: err}
}
