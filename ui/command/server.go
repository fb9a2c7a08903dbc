package command

import (
	"errors"
	"fmt"
	"io"
	"net"

	"tillwatch/api"
)

// listen opens a TCP address; its error names the setting.
func listen(address string) (net.Listener, error) { return listenFor("--listen", address) }

// listenFor is listen for the address of another flag. An empty one, as of an unset
// variable, would be open to every machine. 0.0.0.0 is open over IPv4 only, as its text says; Go would open IPv6 too.
func listenFor(flag, address string) (net.Listener, error) {
	if address == "" {
		return nil, usagef("%s is empty: give an address, such as 127.0.0.1:0 for a free port", flag)
	}
	network := "tcp"
	if host, _, _ := net.SplitHostPort(address); host == net.IPv4zero.String() {
		network = "tcp4"
	}
	listener, err := net.Listen(network, address)
	if errors.As(err, new(*net.AddrError)) {
		return nil, usagef("%s %s: %w (give a host and a port, such as 127.0.0.1:0 for a free port)", flag, address,
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w (choose another one with %s)", address, err, flag)
	}
	return listener, nil
}

func closeListeners(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// ready is the line that a server command prints once it accepts connections. It has
// secrets only if they were made for this run, as nobody else knows them.
type ready struct {
	Ready         bool   `json:"ready"`
	Listen        string `json:"listen"`
	APIKey        string `json:"api_key,omitempty"`
	SigningSecret string `json:"signing_secret,omitempty"`
	Seed          uint64 `json:"seed,omitempty"` // the stand-in's: repeats the same events
	Token         string `json:"token,omitempty"`
	AdminListen   string `json:"admin_listen,omitempty"`
	MetricsListen string `json:"metrics_listen,omitempty"`
	APIURL        string `json:"api_url,omitempty"` // of the service behind a proxy
}

func (r ready) print(w io.Writer, name string, asJSON bool) error {
	r.Ready = true
	line := fmt.Sprintf("%s ready on %s", name, r.Listen)
	if r.APIURL != "" {
		line += " for " + string(api.Scrub(r.APIURL))
	}
	if r.MetricsListen != "" {
		line += "  metrics on " + r.MetricsListen + "/metrics"
	}
	for _, made := range []struct{ name, value string }{
		{"TILLWATCH_API_KEY", r.APIKey}, {"TILLWATCH_SIGNING_SECRET", r.SigningSecret}, {"TILLWATCH_RELAY_TOKEN",
			r.Token},
	} {
		if made.value != "" {
			line += fmt.Sprintf("  %s=%s", made.name, made.value)
		}
	}
	return printed(w, asJSON, r, line+"\n")
}

// address is the URL of a listener.
func address(l net.Listener) string { return "http://" + l.Addr().String() }
