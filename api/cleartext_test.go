package api

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestAKeyGoesToNoOtherMachineUnencrypted(t *testing.T) {
	tests := []struct {
		base    string
		refused bool
	}{
		{"https://checkout.example", false},
		{"http://127.0.0.1:7420", false},
		{"http://127.8.8.8", false},
		{"http://[::1]:7420", false},
		{"http://LocalHost:7420", false},
		{"http://checkout.localhost", false},
		{"http://checkout.example", true},
		{"HTTP://checkout.example", true},
		{"http://10.0.0.7:7420", true},
		{"http://0.0.0.0:7420", true},
		{"http://[::]:7420", true},
		{"http://[fe80::1]", true},
		{"http://127.0.0.1.example", true},
		{"http://localhost.example", true},
		{"http://localhost.:7420", true},
		{"http://127.1:7420", true},
		{"http://2130706433", true},
		{"http://simulator:7420", true},
	}
	for _, test := range tests {
		t.Run(test.base, func(t *testing.T) {
			_, err := New(Config{BaseURL: test.base, Key: NewSecret("hunter2")})
			var readable *ClearTextError
			if errors.As(err, &readable) != test.refused || !test.refused && err != nil {
				t.Errorf("got %v, want a refusal: %t", err, test.refused)
			}
			if test.refused && (!strings.Contains(err.Error(), "unencrypted") || !strings.Contains(err.Error(), "use https://") || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("it says %q", err)
			}
			if _, err := New(Config{BaseURL: test.base, Key: NewSecret("hunter2"), InsecureHTTP: true}); err != nil {
				t.Errorf("allowed, and still refused: %v", err)
			}
		})
	}
}

func TestARedirectToHTTPGetsNoKey(t *testing.T) {
	var keys atomic.Int32
	open := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			keys.Add(1)
		}
	}))
	defer open.Close()
	closed := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, open.URL+r.URL.Path, http.StatusPermanentRedirect)
	}))
	defer closed.Close()
	client, err := New(Config{BaseURL: closed.URL, Key: NewSecret("hunter2"), Transport: closed.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	_, read := client.Intent(t.Context(), "ci_1")
	_, sent := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	if read == nil || sent == nil || keys.Load() != 0 {
		t.Errorf("%d requests with the key arrived; the errors are %v and %v", keys.Load(), read, sent)
	}
}

func TestANameOfThisMachineThatLeadsElsewhereIsNotDialled(t *testing.T) {
	elsewhere, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	_, port, _ := net.SplitHostPort(elsewhere.Addr().String())
	for host, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "0.0.0.0": false} {
		// The dialer is that of the name; the address is what the name led to.
		c, err := DialerTo("checkout.localhost").DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if (err == nil) != want {
			t.Errorf("dialling %s: %v", host, err)
		}
		if err == nil {
			c.Close()
		}
	}
	if c, err := DialerTo("checkout.example").DialContext(t.Context(), "tcp", net.JoinHostPort("0.0.0.0", port)); err != nil {
		t.Errorf("another host is held back: %v", err)
	} else {
		c.Close()
	}
}

func TestThisMachineIsReachedThroughNoProxy(t *testing.T) {
	for host, direct := range map[string]bool{"127.0.0.1": true, "checkout.localhost": true, "checkout.example": false} {
		if (ProxyTo(host) == nil) != direct {
			t.Errorf("%s: direct is to be %t", host, direct)
		}
	}
}
