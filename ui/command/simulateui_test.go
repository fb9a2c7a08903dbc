package command

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

func TestSimulateShowsWhatItDeliversAndEndsWithItsBoard(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not yet", http.StatusNotFound)
	}))
	defer target.Close()
	o := simulateOptions{listen: "127.0.0.1:0", limits: "default", lists: "absent", simulator: quiet()}
	o.simulator.History, o.simulator.WebhookURL = 8, target.URL+"/hooks"
	o.screen.width, o.screen.height = 160, 45
	s := defaults()
	s.APIKey, s.SigningSecret = api.NewSecret("key-of-the-test"), api.NewSecret("signing-secret-of-the-test")
	seen, ended := newScreen(t, 160, 45), make(chan error, 1)
	go func() { ended <- o.behindBoard(t.Context(), s, seen, seen) }()
	text := seen.waitFor(t, `INTENTS \d+ `, `✓ completed \d`, `▌EVENTS  REQUESTS  ALERTS.*  DELIVERIES 1 .*1 target unverified  1 waiting`,
		`◔ waiting +endpoint challenge .*127.0.0.1:\d+/hooks +×\d+ +404`)
	tried := ""
	seen.waitUntil(t, "why a challenge is not sent again", func(text string) bool {
		if attempts := regexp.MustCompile(`×\d+ +404`).FindString(text); attempts != tried { // an attempt may have been running
			tried = attempts
			seen.press(t, "W")
		}
		return strings.Contains(text, "not sent again: a challenge is sent until it is answered")
	})
	at := strings.Fields(text[strings.Index(text, "127.0.0.1:"):])[0]
	seen.press(t, "q")
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the stand-in is still there")
	}
	if conn, err := net.Dial("tcp", at); err == nil {
		conn.Close()
		t.Errorf("something still answers at %s", at)
	}
}

func TestABoardOnTheStandInRefusesWhatItCannotShow(t *testing.T) {
	cases := []struct {
		name, want string
		args       []string
	}{
		{"lines", "--ui does not go with --json or --verbose", []string{"--json"}},
		{"the log", "--ui does not go with --json or --verbose", []string{"-v"}},
		{"two environments", "--ui shows one environment", []string{"--production-listen", "127.0.0.1:0"}},
		{"no terminal", "is not a terminal", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, _, words := invoke(t, append([]string{"simulate", "--ui", "--listen", "127.0.0.1:0"}, c.args...)...)
			if code != exitUsage || !strings.Contains(words, c.want) {
				t.Errorf("exit code %d, %s", code, words)
			}
		})
	}
}
