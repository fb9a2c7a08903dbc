package command

import (
	"net"
	"strings"
	"testing"
)

// An address of IPv4 opens nothing on IPv6, which a firewall may leave open.
func TestAListenerIsReachedOverTheFamiliesOfItsAddress(t *testing.T) {
	only6, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	_ = only6.Close()
	for _, test := range []struct {
		address, shown string
		four, six      bool
	}{
		{"0.0.0.0:0", "http://0.0.0.0:", true, false},
		{"127.0.0.1:0", "http://127.0.0.1:", true, false},
		{":0", "http://[::]:", true, true},
		{"[::]:0", "http://[::]:", true, true},
		{"[::1]:0", "http://[::1]:", false, true},
	} {
		t.Run(test.address, func(t *testing.T) {
			ln, err := listen("--listen", test.address)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			_, port, _ := net.SplitHostPort(ln.Addr().String())
			if shown := address(ln); !strings.HasPrefix(shown, test.shown) {
				t.Errorf("shown as %s, want %s", shown, test.shown)
			}
			for host, want := range map[string]bool{"127.0.0.1": test.four, "::1": test.six} {
				c, err := net.Dial("tcp", net.JoinHostPort(host, port))
				if err == nil {
					_ = c.Close()
				}
				if reached := err == nil; reached != want {
					t.Errorf("reached at %s: %v, want %v", host, reached, want)
				}
			}
		})
	}
}

// nowhere is an address at which nothing listens: a port that was free a moment ago
// may be another program's now.
const nowhere = "127.0.0.1:1"
