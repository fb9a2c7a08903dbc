package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeysAndTokensGoToNoOtherMachineOverHTTPUnlessThatIsAllowed(t *testing.T) {
	// Whatever is sent to the unspecified address reaches nobody here.
	const elsewhere, https = "http://0.0.0.0:1", "https://127.0.0.1:1"
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("tell-nobody"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, args, relayURL, apiURL string
		want                         string
	}{
		{"status, of the service", "status --wait 100ms", "", elsewhere, "the API key"},
		{"status, of the relay", "status --wait 100ms", elsewhere, https, "the relay's token"},
		{"status, of a websocket", "status --wait 100ms", "ws://0.0.0.0:1", https, "use wss://"},
		{"one intent", "intent ci_1 --wait 100ms", "", elsewhere, "the API key"},
		{"a confirm", "confirm ci_1 --total 1USD --allow-confirm", "", elsewhere, "the API key"},
		{"events", "events", elsewhere, "", "the relay's token"},
		{"the newest events", "events --last 3", elsewhere, "", "the relay's token"},
		{"one event", "events evt_1", elsewhere, "", "the relay's token"},
		{"the quarantine", "events --quarantined", elsewhere, "", "the relay's token"},
		{"a proxy", "proxy --listen 127.0.0.1:0", "", elsewhere, "API keys"},
		{"what a proxy tells", "proxy --listen 127.0.0.1:0", elsewhere, https, "the relay's token"},
		{"what a relay fetches", "relay --listen 127.0.0.1:0", "", elsewhere, "the API key"},
		{"what is forwarded", "forward --to " + elsewhere + " --header Authorization:@" + token, https, "", "a header that --header reads from a file"},
		{"an event that is resent", "events resend evt_1 --to " + elsewhere + " --header Authorization:@" + token, https, "", "a header that --header reads from a file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := isolate(t)
			for name, value := range map[string]string{"API_URL": c.apiURL, "RELAY_URL": c.relayURL, "API_KEY": "tell-nobody", "RELAY_TOKEN": "tell-nobody-at-all", "SIGNING_SECRET": "sixteen-bytes-at-least", "STATE_DIR": dir} {
				if value != "" {
					t.Setenv("TILLWATCH_"+name, value)
				}
			}
			var out, words bytes.Buffer
			code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &words)
			if said := words.String(); code != exitUsage || !strings.Contains(said, c.want) || !strings.Contains(said, "or allow it with --insecure-http") || strings.Count(said, "\n") != 1 || strings.Contains(said, "tell-nobody") {
				t.Errorf("exit code %d, said %q; want one sentence with %q", code, said, c.want)
			}
		})
	}
	profile := writeConfig(t, "[profile.lab]\ninsecure_http = true\n")
	for name, allow := range map[string]struct{ args, variable string }{
		"by a flag":     {args: " --insecure-http"},
		"by a variable": {variable: "1"},
		"by a profile":  {args: " --profile lab --config " + profile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TILLWATCH_STATE_DIR", isolate(t))
			t.Setenv("TILLWATCH_API_URL", elsewhere)
			t.Setenv("TILLWATCH_API_KEY", "tell-nobody")
			if allow.variable != "" {
				t.Setenv("TILLWATCH_INSECURE_HTTP", allow.variable)
			}
			var out, words bytes.Buffer
			args := "confirm ci_00000000 --total 1USD --allow-confirm --live 0000" + allow.args
			if code := run(t.Context(), strings.Fields(args), strings.NewReader(""), &out, &words); code != exitFailed || !strings.Contains(words.String(), "connection refused") {
				t.Errorf("exit code %d, said %q; want it tried", code, words.String())
			}
		})
	}
}
