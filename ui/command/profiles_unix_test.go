//go:build unix

package command

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// terminalScreen is a screen behind a terminal of the system: a program gives its
// keyboard back, and another takes it.
type terminalScreen struct {
	*screen
	program *os.File // the program's end
}

func newTerminalScreen(t *testing.T, width, height int) *terminalScreen {
	t.Helper()
	master, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	s := &terminalScreen{newScreen(t, width, height), program}
	shown, typed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(s.screen, master) // until the terminal is closed
	}()
	go func() {
		defer close(typed)
		_, _ = io.Copy(master, s.typed)
	}()
	t.Cleanup(func() {
		s.typed.close()
		<-typed
		_ = program.Close()
		_ = master.Close()
		<-shown
	})
	return s
}

// twoAccounts are a staging account and a live one, each a service with its relay,
// and a configuration that names both. Each has one intent.
func twoAccounts(t *testing.T) (staging, live *world, id, config string) {
	t.Helper()
	isolate(t)
	staging = newWorld(t, quiet())
	live = newWorld(t, quiet())
	tunnel := dig(t, live.settings.APIURL) // nothing there says that it is a stand-in
	for i, w := range []*world{staging, live} {
		url := []string{"https://one.example/products/staging-mug", "https://two.example/products/live-lamp"}[i]
		made, err := w.service.CreateIntent(simulator.Order{ProductURL: url})
		if err != nil {
			t.Fatal(err)
		}
		if w == staging {
			id = made
		}
	}
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "live-key")
	writeFile(t, keyFile, live.settings.APIKey.Reveal()+"\n")
	config = writeConfig(t, strings.NewReplacer("STAGING", staging.settings.APIURL, "RELAY1", staging.settings.RelayURL, "LIVE", tunnel.address,
		"RELAY2", live.settings.RelayURL, "KEY", staging.settings.APIKey.Reveal(), "TOKEN", staging.settings.RelayToken.Reveal(), "FILE", keyFile).Replace(`
[profile.staging]
api_url = "STAGING"
api_key = "KEY"
relay_url = "RELAY1"
relay_token = "TOKEN"
allow_confirm = true

[profile.live]
api_url = "LIVE"
api_key_file = "FILE"
relay_url = "RELAY2"
relay_token = "TOKEN"

[profile.nofile]
api_url = "LIVE"
api_key_file = "/nowhere/key"

[profile.refused]
api_url = "LIVE"
api_key = "KEY"
relay_url = "RELAY2"
relay_token = "another-token-of-16"

[profile.keyless]
api_url = "LIVE"
`))
	return staging, live, id, config
}

// watchOn runs the dashboard on a terminal. It returns what waits for its end.
func watchOn(t *testing.T, s *terminalScreen, args ...string) (left func() (code int, words string)) {
	t.Helper()
	var words bytes.Buffer
	code, done := -1, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		code = run(ctx, append([]string{"watch"}, args...), s.program, s.program, &words)
	}()
	left = func() (int, string) {
		select {
		case <-done:
		case <-time.After(patience):
			cancel()
			<-done
			t.Error("the dashboard does not end")
		}
		return code, words.String()
	}
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return left
}

func TestAProfileIsSwitchedToInPlaceAndNothingOfTheFirstIsLeft(t *testing.T) {
	_, _, _, config := twoAccounts(t)
	for _, profile := range []string{"staging", "live"} { // what delivers an event to a relay stays
		s := newTerminalScreen(t, 120, 36)
		left := watchOn(t, s, "--config", config, "--profile", profile)
		s.waitFor(t, `EVENTS 1`)
		s.press(t, "q")
		left()
	}
	http.DefaultClient.CloseIdleConnections()
	s := newTerminalScreen(t, 120, 36)
	before := goleak.IgnoreCurrent()
	left := watchOn(t, s, "--config", config, "--profile", "staging")
	s.waitFor(t, `one.exam`, `ARMED`, `relay ● live`)
	s.waitFor(t, `awaiting 1`)
	s.press(t, "x/mug\r:filter one.example\r") // a mark, a filter, a history
	s.waitFor(t, `filter.*one.example|/ one.example`)
	s.press(t, "\r") // a detail
	s.press(t, "y")
	s.waitFor(t, `asked the terminal to copy ci_`)
	s.press(t, ":profile live\r")
	text := s.waitFor(t, ` LIVE`, `READ-ONLY`, `two.exam`, `relay ● live`)
	for _, first := range []string{"one.exam", "simulator", "Mug", "ARMED", "copied", "marked"} {
		if strings.Contains(text, first) {
			t.Errorf("%q of the first account is on the screen:\n%s", first, text)
		}
	}
	s.press(t, ":\x1b[A") // what ran before
	s.waitFor(t, `Find an action`)
	s.waitTicks(t, text, 1)
	if text, _ := s.text(); strings.Contains(text, "one.example") {
		t.Errorf("the history is the first account's:\n%s", text)
	}
	s.press(t, "\x1b")
	s.waitGone(t, `Find an action`)
	if raw := s.written(); strings.Count(raw, "\x1b[?1049h") != 1 || strings.Contains(raw, "\x1b[?1049l") {
		t.Error("the screen was left in between")
	}
	s.press(t, ":profile staging\r") // and back
	s.waitFor(t, `one.exam`, `ARMED`, `relay ● live`)
	s.press(t, "q")
	if code, words := left(); code != exitDone {
		t.Errorf("exit code %d: %s", code, words)
	}
	http.DefaultClient.CloseIdleConnections() // the tunnel's
	goleak.VerifyNone(t, before)
}

// written is all that the program wrote.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func TestWhatCannotBeSwitchedToLeavesTheFirstOnTheScreen(t *testing.T) {
	_, live, _, config := twoAccounts(t)
	t.Setenv("TILLWATCH_API_KEY_FILE", "") // nothing of the environment counts
	s := newTerminalScreen(t, 200, 55)
	left := watchOn(t, s, "--config", config, "--profile", "staging")
	s.waitFor(t, `one.exam`, `relay ● live`)
	for _, c := range []struct{ name, says string }{
		{"none", `profile takes keyless, live, nofile, refused, staging`},
		{"staging", `staging is already on the screen`},
		{"nofile", `not switched to nofile: .*/nowhere/key`},
		{"refused", `not switched to refused: its relay: .*token`},
		{"keyless", `not switched to keyless: no API key is configured.*only the configuration file`},
	} {
		s.press(t, ":profile "+c.name+"\r")
		if strings.Contains(s.waitFor(t, c.says, `ARMED`), "Find an action") {
			s.press(t, "\x1b")
			s.waitGone(t, `Find an action`)
		}
	}
	live.killed()
	s.press(t, ":profile live\r")
	s.waitFor(t, `not switched to live: its relay: nothing answers at http://127.0.0.1:\d+: connect: connection refused; start it, or correct relay_url in \[profile.live\]`)
	s.waitFor(t, `one.exam`, `relay ● live`, `ARMED`)
	s.press(t, "q")
	if code, words := left(); code != exitDone || words != "" {
		t.Errorf("exit code %d: %s", code, words)
	}
}

func TestASwitchWaitsForAConfirmThatIsUnderWay(t *testing.T) {
	staging, _, id, config := twoAccounts(t)
	s := newTerminalScreen(t, 120, 36)
	left := watchOn(t, s, "--config", config, "--profile", "staging")
	s.waitFor(t, `awaiting 1`, `relay ● live`, `in 4\dm`)
	s.press(t, "c")
	s.waitFor(t, `Cancel`)
	staging.fail(t, `{"drop":true,"method":"POST","path":"/api/v1/"}`) // no answer
	s.agree(t, "C", `▸ Settle`)
	s.press(t, "\x1b")
	s.waitGone(t, `Confirming`)
	s.press(t, ":profile live\r")
	s.waitFor(t, `a confirm is running: switch once`)
	s.press(t, "\x1b")
	s.waitGone(t, `Find an action`)
	staging.confirm(t, id)
	s.waitFor(t, `✓ .*order`)
	s.press(t, ":profile live\r")
	s.waitFor(t, ` LIVE`, `READ-ONLY`)
	s.press(t, "q")
	if code, words := left(); code != exitDone {
		t.Errorf("exit code %d: %s", code, words)
	}
}

func TestTheFirstAccountIsLetGoOfInMemory(t *testing.T) {
	_, _, _, config := twoAccounts(t)
	s := newTerminalScreen(t, 120, 36)
	flags := newWatch().Flags()
	if err := flags.Parse([]string{"--config", config, "--profile", "staging"}); err != nil {
		t.Fatal(err)
	}
	first, err := loadSettings(flags)
	if err != nil {
		t.Fatal(err)
	}
	p := &profiles{flags: flags, names: first.Profiles, current: first.Chosen}
	var store weak.Pointer[account.Store]
	owned(t, func(ctx context.Context) error {
		current, err := open(first, keeps)
		if err != nil {
			return err
		}
		store = weak.Make(current.store)
		return p.show(ctx, current, screenOptions{kept: true, words: io.Discard}, s.program, s.program)
	})
	s.waitFor(t, `one.exam`, `relay ● live`)
	s.press(t, ":profile live\r")
	s.waitFor(t, ` LIVE`, `two.exam`)
	eventually(t, "the first account's picture is gone", func() bool {
		runtime.GC()
		return store.Value() == nil
	})
}
