package command

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/ui/attention"
)

// documentedAlerts is the example of the page about alerts, with secrets in a folder.
func documentedAlerts(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("ALERTS.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no example")
	}
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("Bearer abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(block[1]), "/run/secrets/alerts-token", filepath.ToSlash(secret))
}

func TestTheDocumentedAlertsLoad(t *testing.T) {
	isolate(t)
	s, err := load(t, "--config", writeConfig(t, documentedAlerts(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.AlertDestinations) != 2 {
		t.Fatalf("loaded %+v", s.AlertDestinations)
	}
	hook, program := s.AlertDestinations[0], s.AlertDestinations[1]
	if !slices.Equal(hook.Kinds, []string{"expiring", "spent"}) || hook.Name() != "hooks.example" || hook.Timeout != 10*time.Second ||
		hook.Headers["Authorization"].Reveal() != "Bearer abc" || hook.Headers["X-Source"].Reveal() != "till-1" {
		t.Errorf("the webhook is %+v", hook)
	}
	if !program.Live || !slices.Equal(program.Command, []string{"notify-send", "{kind}", "{text}"}) {
		t.Errorf("the command is %+v", program)
	}
	page, err := os.ReadFile("ALERTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range attention.Kinds() {
		if !strings.Contains(string(page), "`"+kind+"`") {
			t.Errorf("the page does not name the kind %s", kind)
		}
	}
}

func TestAProfileHasItsOwnAlerts(t *testing.T) {
	isolate(t)
	path := writeConfig(t, "[[alert]]\ncommand = ['a']\n[[alert]]\ncommand = ['b']\n[[profile.live.alert]]\ncommand = ['c']\n")
	for profile, want := range map[string]int{"": 2, "live": 1} {
		if s, err := load(t, "--config", path, "--profile", profile); err != nil || len(s.AlertDestinations) != want {
			t.Errorf("profile %q has %+v, %v", profile, s.AlertDestinations, err)
		}
	}
}

func TestAlertsThatCannotBeMeantAreRefused(t *testing.T) {
	isolate(t)
	for config, want := range map[string]string{
		"[[alert]]\nkind = ['failed']\ncommand = ['x']":            `[[alert]] 1: there is no setting "kind": did you mean kinds?`,
		"[[alert]]\nkinds = ['expired']\ncommand = ['x']":          `[[alert]] 1: there is no kind of alert "expired": choose among spent, confirm, relay`,
		"[[alert]]\ncommand = 'notify-send {text}'":                `command must be a list`,
		"[[alert]]\nwebhook = 'http://hooks.example/hidden'":       `must begin with https://`,
		"[[alert]]\nwebhook_file = '/does/not/exist'":              `reading webhook_file: open /does/not/exist`,
		"[[alert]]\nwebhook = 'https://a.example'\ntimeout = 5":    `timeout must be`,
		"[[alert]]\nwebhook = 'https://a.example'\nheaders = 'no'": `headers must be a table`,
		"[alert]\nwebhook = 'https://a.example'":                   `alert`,
		"alert = 'hidden'":                                         `alert must be tables, as in [[alert]]`,
	} {
		_, err := load(t, "--config", writeConfig(t, config))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

func TestASampleIsSentToEachWebhook(t *testing.T) {
	isolate(t)
	var got attention.Notice
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&got)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	good := "[[alert]]\nwebhook = '" + server.URL + "/hidden'\n"
	code, out, words := capture(t, "alerts", "test", "--config", writeConfig(t, good))
	if code != exitDone || out != host+": got the sample\n" || !got.Test || got.Kind != "expiring" {
		t.Errorf("code %d, %q, %q, sent %+v", code, out, words, got)
	}
	both := good + "[[alert]]\nwebhook = '" + server.URL + "/broken'\n[[alert]]\ncommand = ['x']\n"
	code, out, words = capture(t, "alerts", "test", "--api-url", "https://api.production.example", "--config", writeConfig(t, both))
	want := host + ": got the sample\n" + host + ": it answered 502 Bad Gateway\nx: " + attention.HeldWords + "\n"
	if code != exitFailed || out != want || !strings.Contains(words, "2 of 3 did not get the sample") {
		t.Errorf("code %d, %q, %q", code, out, words)
	}
	if code, _, words := capture(t, "alerts", "test", "--config", writeConfig(t, "")); code != exitUsage || !strings.Contains(words, "no [[alert]] is configured") {
		t.Errorf("without one: code %d, %q", code, words)
	}
}

func TestAProgramSeesNoKeys(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_KEY", "key-01")
	t.Setenv("TILLWATCH_OTHER", "x")
	t.Setenv("CHECKOUT", "Bearer key-01")
	t.Setenv("TOKEN", "bin")
	t.Setenv("SEARCHED", "/bin")
	t.Setenv("HARMLESS", "yes")
	environment := strings.Join(settings{APIKey: api.NewSecret("key-01"), RelayToken: api.NewSecret("bin")}.programEnvironment(os.Environ()), "\n")
	if strings.Contains(environment, "key-01") || strings.Contains(environment, "TOKEN=bin") || !strings.Contains(environment, "SEARCHED=/bin") || strings.Contains(environment, variablePrefix) || !strings.Contains(environment, "HARMLESS=yes") {
		t.Errorf("it sees\n%s", environment)
	}
}

// capture runs the command line and returns what it says.
func capture(t *testing.T, args ...string) (code int, out, words string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}
