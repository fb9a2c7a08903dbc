package attention

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// till is a picture of nothing but the alerts that a test raises.
type till struct {
	account.Picture

	mu      sync.Mutex
	version uint64
	alerts  []account.Alert
}

func (s *till) raise(alerts ...account.Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.alerts = alerts
}

func (s *till) Changes(uint64) account.Changes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return account.Changes{Version: s.version, Summary: account.Summary{Alerts: s.alerts}}
}

func (s *till) Wait(ctx context.Context, since uint64) error {
	for {
		s.mu.Lock()
		newer := s.version > since
		s.mu.Unlock()
		if newer {
			return nil
		}
		if err := api.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// given is what a program got.
type given struct {
	Arguments, Environ []string
	Input              string
}

// TestAProgramForAlerts is the program that the other tests run: it writes down what it was
// given, and fails while a file beside that exists.
func TestAProgramForAlerts(t *testing.T) {
	if flag.NArg() == 0 {
		return
	}
	if flag.Arg(1) == "hang" {
		select {}
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.OpenFile(flag.Arg(0), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	if err := json.NewEncoder(told).Encode(given{flag.Args()[1:], os.Environ(), string(input)}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(flag.Arg(0) + ".fail"); err == nil {
		t.Fatal("it was told to fail")
	}
}

// program is a program that writes down what it is given, and what it was given so far.
type program struct {
	t       *testing.T
	path    string
	command []string
}

func newProgram(t *testing.T, arguments ...string) program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "told")
	return program{t, path, append([]string{self, "-test.run=^TestAProgramForAlerts$", "--", path}, arguments...)}
}

func (p program) runs() (all []given) {
	p.t.Helper()
	text, err := os.ReadFile(p.path)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var one given
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func (p program) notices() (all []Notice) {
	p.t.Helper()
	for _, run := range p.runs() {
		var n Notice
		if err := json.Unmarshal([]byte(run.Input), &n); err != nil || !strings.HasSuffix(run.Input, "}\n") {
			p.t.Fatal(run.Input, err)
		}
		all = append(all, n)
	}
	return all
}

// texts are the texts that the program got, "over" before those of alerts that have ended.
func (p program) texts() string {
	var texts []string
	for _, n := range p.notices() {
		if n.Over {
			n.Text = "over " + n.Text
		}
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, ", ")
}

// sending runs a sender until the test ends, and returns what it last reported.
func sending(t *testing.T, c *Sender) (report func() string) {
	t.Helper()
	var mu sync.Mutex
	var last error
	c.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		last = err
	}
	if c.File == nil {
		c.File = OpenFile(t.TempDir(), "an account")
	}
	if c.Environment == nil {
		c.Environment = func() api.Environment { return api.Environment{Name: "staging"} }
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(last)
	}
}

func failed(id api.ID) account.Alert {
	return account.Alert{Kind: account.AlertFailed, Intent: id, Text: "Mug " + string(id) + " failed", Since: noon}
}

func TestEachAlertIsToldOnceAndSoIsItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, source := newProgram(t), &till{}
		sending(t, &Sender{Command: p.command, Source: source})
		relay := account.Alert{Kind: account.AlertRelay, Cause: "down", Text: "the relay is down"}
		unknown := account.Alert{Kind: account.AlertConfirm, Intent: "ci_1", Text: "a confirm is unknown"}
		for _, step := range []struct {
			alerts []account.Alert
			tells  string
		}{
			{[]account.Alert{failed("ci_1")}, "Mug ci_1 failed"},
			{[]account.Alert{unknown, failed("ci_1"), relay}, ", a confirm is unknown, the relay is down"},
			{[]account.Alert{failed("ci_1"), relay}, ", over a confirm is unknown"},
			{[]account.Alert{relay}, ", over Mug ci_1 failed"},
			{nil, ", over the relay is down"},
			{[]account.Alert{relay, {Kind: account.AlertSending, Text: "cannot be sent"}}, ", the relay is down"},
		} {
			before := p.texts()
			source.raise(step.alerts...)
			time.Sleep(time.Minute)
			if got := strings.TrimPrefix(p.texts(), before); got != step.tells {
				t.Errorf("after %q it is told %q, want %q", before, got, step.tells)
			}
		}
	})
}

func TestTheProgramGetsTheAlertOnItsStdinAndNoShell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arguments := []string{"--to=$HOME `id`", "{text}; exit 1"}
		p, source := newProgram(t, arguments...), &till{}
		sending(t, &Sender{Command: p.command, Source: source, Account: "api.example", Environ: []string{"ONLY=this"}})
		source.raise(account.Alert{Kind: account.AlertFailed, Text: "\x1b]52;c;x\x07Mug\nfailed", Intent: "ci_1",
			Since: noon, Due: noon.Add(time.Hour)})
		time.Sleep(time.Second)
		runs, notices := p.runs(), p.notices()
		if len(runs) != 1 {
			t.Fatalf("it ran %d times", len(runs))
		}
		home := func(pair string) bool { return strings.HasPrefix(pair, "HOME=") }
		if got := runs[0]; !slices.Equal(got.Arguments, arguments) || !slices.Contains(got.Environ, "ONLY=this") ||
			slices.ContainsFunc(got.Environ, home) {
			t.Errorf("it got %+v", got)
		}
		want := Notice{
			Alert: account.Alert{
				Kind: account.AlertFailed, Text: "]52;c;xMug " +
					"failed", Intent: "ci_1", Since: noon, Due: noon.Add(time.Hour),
			},
			Environment: "staging", Account: "api.example",
		}
		if got := notices[0]; got != want {
			t.Errorf("its stdin held %+v, want %+v", got, want)
		}
	})
}

func TestAProgramThatFailsIsReportedUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, source := newProgram(t), &till{}
		report := sending(t, &Sender{Command: p.command, Source: source})
		damage(t, p.path+".fail", "")
		source.raise(failed("ci_1"), failed("ci_2"))
		time.Sleep(time.Minute)
		want := filepath.Base(p.command[0]) + " gets no alerts: it failed: exit status 1 (2 not sent)"
		if got := report(); got != want {
			t.Errorf("reported %s, want %s", got, want)
		}
		if err := os.Remove(p.path + ".fail"); err != nil {
			t.Fatal(err)
		}
		source.raise(failed("ci_1"))
		time.Sleep(time.Minute)
		if got := report(); got != "<nil>" {
			t.Errorf("reported %s after it succeeded", got)
		}
	})
}

func TestAProgramThatDoesNotEndOrDoesNotExistIsReported(t *testing.T) {
	hanging := &Sender{Command: newProgram(t, "hang").command, Timeout: 100 * time.Millisecond}
	for want, c := range map[string]*Sender{"it did not end within 100ms": hanging,
		"it failed": {Command: []string{"/does/not/exist"}}} {
		if err := c.start(t.Context(), Notice{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestWhatIsMutedIsToldAfterwardsIfItStillStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, source, file := newProgram(t), &till{}, OpenFile(t.TempDir(), "an account")
		saved(t, file, func(m *Memory) {
			m.Put(Off{Key: Key{Kind: account.AlertFailed}, All: true, At: time.Now(),
				Until: time.Now().Add(15 * time.Minute)})
			m.Put(Off{Key: Key{Kind: account.AlertRelay}, At: time.Now()})
		})
		sending(t, &Sender{Command: p.command, Source: source, File: file})
		source.raise(failed("ci_1"), account.Alert{Kind: account.AlertRelay, Text: "acknowledged"})
		time.Sleep(14 * time.Minute)
		if got := p.texts(); got != "acknowledged" {
			t.Errorf("told %q while it is muted", got)
		}
		time.Sleep(2 * time.Minute)
		if got := p.texts(); got != "acknowledged, Mug ci_1 failed" {
			t.Errorf("told %q after that", got)
		}
	})
}

func TestAFileThatCannotBeReadMutesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, source, file := newProgram(t), &till{}, OpenFile(t.TempDir(), "an account")
		damage(t, file.path, "{")
		sending(t, &Sender{Command: p.command, Source: source, File: file})
		source.raise(failed("ci_1"))
		time.Sleep(time.Minute)
		if got := p.texts(); got != "Mug ci_1 failed" {
			t.Errorf("told %q", got)
		}
	})
}

func TestAProgramRunsWhereMoneyIsRealOnlyIfAllowed(t *testing.T) {
	for allowed, want := range map[bool]string{true: "Mug ci_1 failed", false: ""} {
		synctest.Test(t, func(t *testing.T) {
			p, source := newProgram(t), &till{}
			live := func() api.Environment { return api.Environment{Name: "production", Live: true} }
			report := sending(t, &Sender{Command: p.command, Source: source, Live: allowed, Environment: live})
			source.raise(failed("ci_1"))
			time.Sleep(time.Minute)
			if got := p.texts(); got != want || strings.Contains(report(), "set alert_command_live = true") == allowed {
				t.Errorf("allowed %v, it is told %q, and reported is %s", allowed, got, report())
			}
		})
	}
}
