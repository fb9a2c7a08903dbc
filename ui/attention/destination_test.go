package attention

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestAWayOutThatCannotBeMeantIsRefused(t *testing.T) {
	hook := func(address string) Destination { return Destination{Webhook: api.NewSecret(address)} }
	for _, c := range []struct {
		name        string
		destination Destination
		want        string // "": it is taken
	}{
		{"https", hook("https://hooks.example/x"), ""},
		{"http to this machine", hook("http://127.0.0.1:8080/x"), ""},
		{"a program", Destination{Command: []string{"notify-send", "{text}"}, Kinds: []string{"expiring", "spent", "watch list"}}, ""},
		{"neither", Destination{}, "either a webhook or a command"},
		{"both", Destination{Webhook: api.NewSecret("https://a.example"), Command: []string{"x"}}, "either a webhook or a command"},
		{"http to another machine", hook("http://hooks.example/secret"), "must begin with https://"},
		{"no address", hook("secret"), "must be an address"},
		{"another scheme", hook("file:///secret"), "must be an address"},
		{"an unknown kind", Destination{Command: []string{"x"}, Kinds: []string{"expired"}}, `there is no kind of alert "expired": choose among spent, confirm, relay, api, awaiting, expiring, stuck, failed, order, quota`},
		{"a program to be filled in", Destination{Command: []string{"{text}"}}, "its program must be fixed"},
		{"a header of two lines", Destination{Webhook: api.NewSecret("https://a.example"), Headers: map[string]api.Secret{"X": api.NewSecret("secret\r\nY: 1")}}, "cannot be sent"},
		{"a long timeout", Destination{Command: []string{"x"}, Timeout: time.Hour}, "at most 5m"},
	} {
		err := c.destination.Check()
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v reveals a secret", c.name, err)
		}
	}
}

func TestNoErrorRevealsTheAddressOfAWebhook(t *testing.T) {
	for name, before := range map[string]string{
		"the request as the answer": "", "the request as a header": "HTTP/1.1 200 OK\r\n", "a header as the answer": "HTTP/1.1 secret-of-a-header\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				_, _ = io.WriteString(conn, before+"POST "+r.RequestURI+" HTTP/1.1\r\n\r\n")
				_ = conn.Close()
			}))
			defer server.Close()
			d := Destination{Webhook: api.NewSecret(server.URL + "/secret?token=secret"), Headers: map[string]api.Secret{"X-Token": api.NewSecret("secret-of-a-header")}}
			if err := d.Send(t.Context(), Notice{}, nil); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "malformed") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestWhatIsFilledInIsNoOptionAndNoFile(t *testing.T) {
	for text, want := range map[string]string{
		"Mug failed":       "failed|Mug failed|ci_1|to ci_1: Mug failed",
		"--exec=x failed":  "failed|failed: --exec=x failed|ci_1|to ci_1: failed: --exec=x failed",
		"@/etc/x failed":   "failed|failed: @/etc/x failed|ci_1|to ci_1: failed: @/etc/x failed",
		"{id} {kind}":      "failed|failed: {id} {kind}|ci_1|to ci_1: failed: {id} {kind}",
		"a\x1b]52;c;x\x07": "failed|a]52;c;x|ci_1|to ci_1: a]52;c;x",
	} {
		n := NoticeOf(account.Alert{Kind: account.AlertFailed, Text: text, Intent: "ci_1"}, staging, "", time.UTC)
		if got := strings.Join(n.fill([]string{"{kind}", "{text}", "{id}", "to {id}: {text}"}), "|"); got != want {
			t.Errorf("%q is filled in as %q, want %q", text, got, want)
		}
	}
	n := NoticeOf(account.Alert{Kind: account.AlertFailed, Intent: "--help"}, staging, "", time.UTC)
	if got := n.fill([]string{"{id}"}); got[0] != "help" {
		t.Errorf("the id is filled in as %q", got)
	}
}

// TestAProgramForAlerts is the program that the tests below run: it writes down what
// it was given.
func TestAProgramForAlerts(t *testing.T) {
	arguments := flag.Args()
	if len(arguments) < 2 {
		return
	}
	if arguments[1] == "hang" {
		select {}
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(given{arguments[1:], os.Environ(), string(input)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(arguments[0], told, 0o600); err != nil {
		t.Fatal(err)
	}
}

type given struct {
	Arguments, Environ []string
	Input              string
}

func program(t *testing.T, arguments ...string) (destination Destination, told string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	told = filepath.Join(t.TempDir(), "told.json")
	return Destination{Command: append([]string{self, "-test.run=^TestAProgramForAlerts$", "--", told}, arguments...)}, told
}

func TestAProgramGetsTheAlertAndNoShell(t *testing.T) {
	destination, told := program(t, "{kind}", "{text}", "{id}", "$HOME `id`; {text}")
	n := NoticeOf(account.Alert{Kind: account.AlertFailed, Text: "Mug; rm -rf $HOME failed", Intent: "ci_1"}, staging, "api.example", time.UTC)
	if err := destination.Send(context.Background(), n, []string{"ONLY=this"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(told)
	var got given
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatal(err, string(text))
	}
	if want := []string{"failed", "Mug; rm -rf $HOME failed", "ci_1", "$HOME `id`; Mug; rm -rf $HOME failed"}; !slices.Equal(got.Arguments, want) {
		t.Errorf("its arguments are %q", got.Arguments)
	}
	var body Notice
	if err := json.Unmarshal([]byte(got.Input), &body); err != nil || body.Intent != "ci_1" || body.Account != "api.example" {
		t.Errorf("its stdin is %s, %v", got.Input, err)
	}
	if !slices.Contains(got.Environ, "ONLY=this") || slices.ContainsFunc(got.Environ, func(pair string) bool { return strings.HasPrefix(pair, "HOME=") }) {
		t.Errorf("its environment is %q", got.Environ)
	}
}

func TestAProgramThatDoesNotEndOrDoesNotExistIsReported(t *testing.T) {
	hanging, _ := program(t, "hang")
	hanging.Timeout = 100 * time.Millisecond
	for want, destination := range map[string]Destination{"it did not end within 100ms": hanging, "it failed": {Command: []string{"/does/not/exist"}}} {
		if err := destination.Send(context.Background(), Sample(staging, "", noon), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
