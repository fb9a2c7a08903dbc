package confirm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// damagedLog is an audit log in which a line cannot be read; the one after it was
// written a while ago.
func damagedLog(t *testing.T, ago time.Duration) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "confirms.jsonl")
	next := fmt.Sprintf(`{"at":%q,"environment":"simulator","attempt":"B","intent":"ci_other","verdict":"accepted"}`, time.Now().Add(-ago).Format(time.RFC3339Nano))
	if err := os.WriteFile(file, []byte(`{"at":"2026-11-22T05:00:00Z","attempt":"A","int#nt":"`+string(id)+"\n"+next+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestADamagedLineIsSaidAndMayHideAConfirm(t *testing.T) {
	cases := []struct {
		name    string
		ago     time.Duration
		verdict confirm.Verdict
		warned  bool
		reads   int
	}{
		{"a moment ago", 30 * time.Second, confirm.NotSent, true, 1},
		{"minutes ago", 5 * time.Minute, confirm.Accepted, true, 3},
		{"days ago", 48 * time.Hour, confirm.Accepted, false, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				g := guardOn(t, s, damagedLog(t, c.ago))
				if warned := strings.Contains(strings.Join(g.Warnings(), "\n"), "earlier confirms are not known"); warned != c.warned {
					t.Errorf("it warns: %q", g.Warnings())
				}
				out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
				if out.Verdict != c.verdict || s.reads != c.reads || (s.confirms == 1) != (c.verdict == confirm.Accepted) {
					t.Errorf("%q after %d reads and %d sends: %v", out.Verdict, s.reads, s.confirms, out.Err)
				}
				if unsettled := (*confirm.UnsettledError)(nil); c.verdict == confirm.NotSent && (!errors.As(out.Err, &unsettled) || !strings.Contains(out.Err.Error(), "cannot be read")) {
					t.Errorf("it says %v", out.Err)
				}
			})
		})
	}
}

func TestManyDamagedLinesAreSaidOnce(t *testing.T) {
	file := damagedLog(t, time.Minute)
	if err := os.WriteFile(file, []byte(strings.Repeat("not of tillwatch\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	if warned := guardOn(t, &service{}, file).Warnings(); len(warned) != 1 {
		t.Errorf("%d warnings: %q", len(warned), warned)
	}
}

func TestALineWithoutAnEndIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	for name, end := range map[string]string{"cut": "", "ended": "\n"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "confirms.jsonl")
			const size = 300 << 20
			sparse, err := os.Create(file)
			if err == nil {
				err = errors.Join(sparse.Truncate(size), second(sparse.WriteAt([]byte(end), size)), sparse.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = confirm.New(confirm.Config{Service: &service{}, Environments: []string{"simulator"}, AuditFile: file})
			if err == nil || !strings.Contains(err.Error(), file+" has a line of more than 64 MiB") {
				t.Errorf("it says %v", err)
			}
			if info, err := os.Stat(file); err != nil || info.Size() < size {
				t.Errorf("what is in it is gone: %v, %v", info, err)
			}
		})
	}
}

func second(_ int, err error) error { return err }

func TestAnIntentThatWasSettledAfterTheDamageIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := damagedLog(t, 5*time.Minute)
		g := guardOn(t, s, file)
		g.Confirm(t.Context(), proposal(t, s.intent), nil)
		s.intent = awaiting()
		s.reads = 0
		time.Sleep(5 * time.Minute)
		if out := guardOn(t, s, file).Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted || s.reads != 1 {
			t.Errorf("%q after %d reads: %v", out.Verdict, s.reads, out.Err)
		}
	})
}

func TestALogThatWasRemovedOrCutBetweenTwoRunsIsSaid(t *testing.T) {
	cases := map[string]func(file string) error{
		"removed": os.Remove,
		"emptied": func(file string) error { return os.Truncate(file, 0) },
		"cut":     func(file string) error { return os.Truncate(file, 40) },
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			s := &service{intent: awaiting()}
			g, file := guard(t, s)
			if len(g.Warnings()) > 0 {
				t.Errorf("a fresh log warns: %q", g.Warnings())
			}
			if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted {
				t.Fatalf("%q: %v", out.Verdict, out.Err)
			}
			g.Close()
			if warnings := guardOn(t, s, file).Warnings(); len(warnings) > 0 {
				t.Errorf("a whole log warns: %q", warnings)
			}
			if err := damage(file); err != nil {
				t.Fatal(err)
			}
			s.intent = awaiting() // a second order of it would be another one
			for run := range 2 {  // whoever starts next must know it, too
				again := guardOn(t, s, file)
				if said := strings.Join(again.Warnings(), "\n"); !strings.Contains(said, "earlier confirms are not known") {
					t.Errorf("run %d warns: %q", run, said)
				}
				if out := again.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.NotSent || s.confirms != 1 {
					t.Errorf("run %d: %q after %d sends: %v", run, out.Verdict, s.confirms, out.Err)
				}
			}
		})
	}
}

func TestALogThatIsGoneWasLoggedByWhateverLinkItWasWritten(t *testing.T) {
	cases := map[string]struct {
		file  string
		links map[string]string // each where it leads
	}{
		"no link":               {"confirms.jsonl", nil},
		"an absolute link":      {"confirms.jsonl", map[string]string{"confirms.jsonl": "FOLDER/real/log.jsonl"}},
		"a relative link":       {"confirms.jsonl", map[string]string{"confirms.jsonl": "real/log.jsonl"}},
		"a link to a link":      {"confirms.jsonl", map[string]string{"confirms.jsonl": "real/second", "real/second": "log.jsonl"}},
		"a link behind another": {"here/confirms.jsonl", map[string]string{"here": "real", "real/confirms.jsonl": "../log.jsonl"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, c.file)
			if err := os.Mkdir(filepath.Join(folder, "real"), 0o700); err != nil {
				t.Fatal(err)
			}
			for link, to := range c.links {
				if err := os.Symlink(strings.Replace(to, "FOLDER", folder, 1), filepath.Join(folder, link)); err != nil {
					t.Skip("no symlinks here: ", err)
				}
			}
			if confirm.Logged(file) {
				t.Error("nothing was written yet")
			}
			s := &service{intent: awaiting()}
			g := guardOn(t, s, file)
			if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted {
				t.Fatalf("%q: %v", out.Verdict, out.Err)
			}
			g.Close()
			written, err := filepath.EvalSymlinks(file)
			if err == nil {
				err = os.Remove(written)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !confirm.Logged(file) {
				t.Error("nobody learns that the log is gone")
			}
			if len(guardOn(t, s, file).Warnings()) == 0 {
				t.Error("it does not warn that the log is gone")
			}
		})
	}
}

func TestALinkThatLeadsNowhereWasNeverLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	if err := os.Symlink(filepath.Base(file), file); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	if confirm.Logged(file) {
		t.Error("a link to itself leads to a log")
	}
}

func TestNothingIsSentWhileTheLogIsNotTheOneThatWasOpened(t *testing.T) {
	const again = "start tillwatch again"
	cases := map[string]struct {
		damage func(file string) error
		want   string
	}{
		"removed":                 {os.Remove, again},
		"emptied":                 {func(file string) error { return os.Truncate(file, 0) }, again},
		"replaced":                {func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) }, again},
		"removed with its folder": {func(file string) error { return os.RemoveAll(filepath.Dir(file)) }, "locking the audit log"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &service{intent: awaiting()}
			file := sentAgo(t, time.Hour)
			g := guardOn(t, s, file)
			if err := c.damage(file); err != nil {
				t.Fatal(err)
			}
			out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
			if out.Verdict != confirm.NotSent || s.confirms != 0 || !strings.Contains(out.String(), c.want) {
				t.Errorf("%d sends: %v", s.confirms, out)
			}
			if !strings.Contains(out.Sentence(), "the audit log cannot be read") || !strings.Contains(out.Advice(), "Do not confirm it anywhere else until the audit log can be read") {
				t.Errorf("it speaks of an earlier confirm: %s. %s", out.Sentence(), out.Advice())
			}
		})
	}
}

func TestAnOutcomeThatCannotBeRecordedIsSaidInOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, file := guard(t, s)
		s.onSend = func(s *service) error {
			s.intent.State = api.PlacingOrder
			return errors.Join(&api.Error{Status: 409}, os.Rename(file, file+".moved"))
		}
		out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
		if said := out.String(); out.Verdict != confirm.Overtaken || strings.Contains(said, "\n") || !strings.Contains(said, "409 conflict; the audit log does not have this outcome: ") {
			t.Errorf("%q: %s", out.Verdict, said)
		}
	})
}

func TestALineThatACrashCutIsNoDamage(t *testing.T) {
	s := &service{intent: awaiting()}
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	if err := os.WriteFile(file, []byte(`{"at":"2026-11-22T05:00:00Z","att`), 0o600); err != nil {
		t.Fatal(err)
	}
	first := guardOn(t, s, file)
	for _, g := range []*confirm.Guard{first, guardOn(t, s, file)} {
		if len(g.Warnings()) > 0 {
			t.Errorf("it warns: %q", g.Warnings())
		}
	}
	if out := first.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted {
		t.Errorf("%q: %v", out.Verdict, out.Err)
	}
	auditLines(t, file) // each of them can be read
}

func TestALogThatIsNoRegularFileIsRefused(t *testing.T) { // it would be endless, or remember nothing
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	if err := os.Symlink(os.DevNull, file); err != nil {
		t.Skip(err)
	}
	g, err := confirm.New(confirm.Config{Service: &service{}, Environments: []string{"simulator"}, AuditFile: file})
	if err == nil {
		g.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("it says %v", err)
	}
}
