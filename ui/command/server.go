package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
)

// listen opens a TCP address, with an error that names the setting.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w (choose another one with --listen)", address, err)
	}
	return listener, nil
}

// ready is the line that a server command prints once it accepts connections.
// Secrets are in it only when they were made for this run: nobody else can know
// them.
type ready struct {
	Ready         bool   `json:"ready"`
	Listen        string `json:"listen"`
	APIKey        string `json:"api_key,omitempty"`
	SigningSecret string `json:"signing_secret,omitempty"`
	Token         string `json:"token,omitempty"`
	AdminListen   string `json:"admin_listen,omitempty"`
}

func (r ready) print(w io.Writer, name string, asJSON bool) error {
	r.Ready = true
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	line := fmt.Sprintf("%s ready on %s", name, r.Listen)
	for _, made := range []struct{ name, value string }{
		{"TILLWATCH_API_KEY", r.APIKey}, {"TILLWATCH_SIGNING_SECRET", r.SigningSecret}, {"TILLWATCH_RELAY_TOKEN", r.Token},
	} {
		if made.value != "" {
			line += fmt.Sprintf("  %s=%s", made.name, made.value)
		}
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// address is the URL of a listener.
func address(l net.Listener) string { return "http://" + l.Addr().String() }
