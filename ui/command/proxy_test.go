package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/ui/session"
)

// proxied is a proxy that runs as a command.
func proxied(t *testing.T, args ...string) (at ready, said *utterances, stop func()) {
	t.Helper()
	out, in := io.Pipe()
	said = &utterances{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	args = append([]string{"proxy", "--json", "--listen", "127.0.0.1:0"}, args...)
	go func() {
		ended <- run(ctx, args, strings.NewReader(""), in, said)
		_ = in.Close()
	}()
	stop = func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("the proxy ended with %d: %s", code, said)
		}
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the proxy is not ready: %s", said)
	}
	if err := json.Unmarshal(lines.Bytes(), &at); err != nil {
		t.Fatal(err)
	}
	return at, said, stop
}

// asks reads a shipment list as the shop's own code does.
func asks(t *testing.T, base string, key api.Secret) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/shipments?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key.Reveal())
	r.Header.Set("User-Agent", "the-shop/1")
	if status := statusOf(t, http.DefaultClient, r); status != http.StatusOK {
		t.Fatalf("the shop is answered %d", status)
	}
}

// hasSeen reports whether the session knows of a request of the shop.
func hasSeen(s *session.Session) bool {
	return slices.ContainsFunc(s.Store.Changes(0).Requests, func(e api.Exchange) bool {
		return e.By == "the-shop/1" && e.Path == "/api/v1/shipments" && e.Status == http.StatusOK
	})
}

func TestWhatPassesAProxyReachesTheRelayAndItsDashboards(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, quiet()), newWorld(t, quiet())
	config := configFile(t, "api_url", w.settings.APIURL, "relay_url", w.settings.RelayURL, "relay_token", w.settings.RelayToken.Reveal())
	at, said, stop := proxied(t, "--config", config, "--also-report-to", other.settings.RelayURL, "--metrics-listen", "127.0.0.1:0")
	asks(t, at.Listen, w.settings.APIKey)
	answer, err := http.Get(at.MetricsListen + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if want := `tillwatch_proxy_requests_total{class="reads",status="2xx"} 1`; !strings.Contains(string(metrics), want) {
		t.Errorf("want %s in %s", want, metrics)
	}
	stop() // so that the dashboard, which comes later, still hears of it
	for _, at := range []*world{w, other} {
		current, err := session.Open(at.settings, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(current.Close)
		owned(t, current.Run)
		eventually(t, "the dashboard knows of the shop's request", func() bool { return hasSeen(current) })
	}
	for _, text := range []string{said.String(), string(metrics)} {
		if strings.Contains(text, w.settings.APIKey.Reveal()) || strings.Contains(text, w.settings.RelayToken.Reveal()) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

func TestADashboardRunsAProxyByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.settings.RelayURL, w.settings.ProxyListen = "", "127.0.0.1:0"
	current, err := session.Open(w.settings, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(current.Close)
	var said utterances
	if err := addConfiguredProxy(current, false, &said); err != nil {
		t.Fatal(err)
	}
	owned(t, current.Run)
	address, _, _ := strings.Cut(strings.TrimPrefix(said.String(), "proxy ready on "), " ")
	asks(t, address, w.settings.APIKey)
	eventually(t, "the dashboard knows of the shop's request", func() bool { return hasSeen(current) })
}

func TestAProxyIsOpenToThisMachineAlone(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_URL", "https://127.0.0.1:1")
	t.Setenv("TILLWATCH_API_KEY", "a-key")
	for _, args := range []string{
		"proxy --listen :0", "proxy --listen 0.0.0.0:0", "proxy --listen [::]:0", "watch --json --proxy-listen :0", "watch --json --proxy-listen 192.0.2.1:7440",
	} {
		code, out, words := invoke(t, strings.Fields(args)...)
		if code != exitUsage || out != "" || !strings.Contains(words, "--allow-remote") || !strings.Contains(words, "API keys pass") || strings.Count(words, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", args, code, words)
		}
	}
	code, help, _ := invoke(t, "proxy", "--help")
	if code != exitDone || !strings.Contains(help, "Your API keys pass through it") {
		t.Errorf("exit code %d: %s", code, help)
	}
}

// Go listens everywhere where the address is empty, as of an unset variable.
func TestAnEmptyAddressIsRefused(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	for _, server := range [][]string{{"proxy", "--api-url", "https://127.0.0.1:1"}, {"simulate"}, {"relay", "--data", t.TempDir()}} {
		within, over := context.WithTimeout(t.Context(), time.Second)
		var out, words bytes.Buffer
		code := run(within, append(server, "--listen", ""), strings.NewReader(""), &out, &words)
		over()
		if code != exitUsage || out.Len() != 0 || !strings.Contains(words.String(), "--listen is empty") {
			t.Errorf("%s: exit code %d, %q %q", server[0], code, out.String(), words.String())
		}
	}
}

func TestTheMetricsOfAProxyAreOpenToThisMachineAlone(t *testing.T) {
	isolate(t)
	code, out, words := invoke(t, "proxy", "--api-url", "https://127.0.0.1:1", "--listen", "127.0.0.1:0", "--metrics-listen", "0.0.0.0:0")
	if code != exitUsage || out != "" || !strings.Contains(words, "--allow-remote") || strings.Count(words, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, words)
	}
}

func TestAProxyBeforeItselfIsRefused(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "[::1]", "0.0.0.0"} {
		if !isAt("http://"+host+":"+port+"/", ln) {
			t.Errorf("%s is not taken for the proxy itself", host)
		}
	}
	for _, other := range []string{"http://127.0.0.1:1", "http://127.0.0.1", "https://api.example:" + port} {
		if isAt(other, ln) {
			t.Errorf("%s is taken for the proxy itself", other)
		}
	}
	ln.Close()
	code, out, words := invoke(t, "proxy", "--listen", "127.0.0.1:"+port, "--api-url", "http://localhost:"+port)
	if code != exitUsage || out != "" || !strings.Contains(words, "the service's address is the proxy's own, 127.0.0.1:"+port) {
		t.Errorf("exit code %d, %q", code, words)
	}
}

// net/http would log the answer, with whatever is in it.
func TestAnAnswerThatNobodyAskedForAppearsNowhere(t *testing.T) {
	t.Parallel()
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	noticed := make(chan struct{})
	go func() {
		defer close(noticed)
		conn, err := upstream.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		from := bufio.NewReader(conn)
		if _, err := http.ReadRequest(from); err == nil {
			_, _ = io.WriteString(conn, answer+"HTTP/1.1 200 OK\r\nX-Buyer: marked\r\n\r\n")
			_, _ = from.ReadByte() // until the proxy closes the connection
		}
	}()
	command := exec.Command(os.Args[0], "proxy", "--json", "--listen", "127.0.0.1:0", "--api-url", address(upstream))
	command.Env = append(os.Environ(), asProgram+"=1")
	p, output := spawn(t, command, "")
	p.mustGetReady(t, output)
	asks(t, p.Listen, api.NewSecret("a-key"))
	<-noticed
	p.stop()
	if strings.Contains(p.said.String(), "marked") {
		t.Errorf("it said %s", p.said)
	}
}
