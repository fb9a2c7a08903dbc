package command

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAnErrorOfTheEnvironmentsProxyNamesTheProxy runs commands as processes: the environment's proxy is looked up
// once in each.
func TestAnErrorOfTheEnvironmentsProxyNamesTheProxy(t *testing.T) {
	answering := func(status int) string {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(proxy.Close)
		return proxy.Listener.Addr().String()
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	proxies := []struct{ name, at, says string }{
		{"it wants a password", answering(http.StatusProxyAuthRequired), "Proxy Authentication Required"},
		{"it refuses the host", answering(http.StatusForbidden), "Forbidden"},
		{"it is gone", gone.Listener.Addr().String(), "refused"},
	}
	commands := map[string][]string{
		"a read of the service": {"intent", "ci_1", "--api-url", "https://api.example"},
		"a stream of events":    {"events", "--relay-url", "https://relay.example"},
		"an examination":        {"doctor", "--json", "--api-url", "https://api.example"},
	}
	for _, proxy := range proxies {
		for name, args := range commands {
			t.Run(name+", "+proxy.name, func(t *testing.T) {
				isolate(t)
				command := exec.CommandContext(t.Context(), os.Args[0], args...)
				command.Env = append(os.Environ(), asProgram+"=1", "HTTPS_PROXY=http://user:hidden@"+proxy.at, "NO_PROXY=",
					"TILLWATCH_API_KEY="+eventsToken, "TILLWATCH_RELAY_TOKEN="+eventsToken)
				var said strings.Builder
				command.Stdout, command.Stderr = &said, &said
				if err := command.Run(); err == nil {
					t.Error("it does not fail")
				}
				// The examination wraps its lines.
				text := strings.Join(strings.Fields(said.String()), " ")
				if !strings.Contains(text, "through the proxy "+proxy.at+": ") || !strings.Contains(text, proxy.says) ||
					strings.Contains(text, "hidden") {
					t.Errorf("it says %s", text)
				}
			})
		}
	}
}

func TestAnAnswerOfTheProxyNamesTheEnvironmentsProxyThatRefused(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refusing.Close()
	isolate(t)
	command := exec.CommandContext(t.Context(), os.Args[0], "proxy", "--json", "--listen", "127.0.0.1:0", "--api-url", "https://api.example")
	command.Env = append(os.Environ(), asProgram+"=1", "HTTPS_PROXY=http://user:hidden@"+refusing.Listener.Addr().String(), "NO_PROXY=")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	}()
	var at ready
	lines := bufio.NewScanner(out)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &at) != nil {
		t.Fatalf("the proxy is not ready: %s", lines.Text())
	}
	answer, err := http.Get(at.Listen + "/api/v1/shipments")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusBadGateway || !strings.Contains(string(said), "was not sent: through the proxy "+refusing.Listener.Addr().String()+": Forbidden") ||
		strings.Contains(string(said), "hidden") {
		t.Errorf("%d %s, %v", answer.StatusCode, said, err)
	}
}
