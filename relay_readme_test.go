//go:build linux

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tillwatch/relay"
)

// server is the PostgreSQL of these tests, if there is one.
func TestTheRelaysREADMEWorksAsItStands(t *testing.T) {
	r := newReadme(t, "relay/README.md")
	r.install(t)
	t.Run("one relay and its tokens", r.oneRelay)
	t.Run("proofs on demand", r.proofs)
	t.Run("several relays on one database", r.onOneDatabase)
	r.expectAllTried(t)
}

// install puts the program on the path of the shells that type the README, and has
// its folders be those of this test.
func (r *readme) install(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "bin", "tillwatch"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for i, variable := range r.vars {
		if path, is := strings.CutPrefix(variable, "PATH="); is {
			r.vars[i] = "PATH=" + filepath.Join(folder, "bin") + ":" + path
		}
	}
	r.address = map[string]string{
		":7430":              listenOn(t, ":7430"),
		"/etc/tillwatch":     folder,
		"/var/lib/tillwatch": filepath.Join(folder, "data"),
	}
	for name, content := range map[string]string{"signing-secret": secret, "relay-token": token} {
		r.provide(t, name, content)
	}
}

// provide writes a file that the README expects under /etc/tillwatch.
func (r *readme) provide(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.address["/etc/tillwatch"], name), []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *readme) oneRelay(t *testing.T) {
	running := r.run(t, "", "tillwatch relay --listen :7430 --data /var/lib/tillwatch")
	running.prints("relay ready on http://")
	created := r.run(t, "", "tillwatch tokens create --data /var/lib/tillwatch --name laptop")
	created.ends("")
	reporter := r.run(t, "", "tillwatch tokens create --data /var/lib/tillwatch --name proxy")
	reporter.ends("")
	r.expectAnswer(t, regexp.MustCompile(`[A-Z0-9]{26}`).FindString(reporter.prints("\n")), http.StatusForbidden) // it may only report
	issued := regexp.MustCompile(`[A-Z0-9]{26}`).FindString(created.prints("\n"))
	r.expectAnswer(t, issued, http.StatusOK)
	list := r.run(t, "", "tillwatch tokens list")
	list.prints("laptop")
	list.ends("")
	revoke := r.run(t, "", "tillwatch tokens revoke")
	revoke.ends("")
	r.expectAnswer(t, issued, http.StatusUnauthorized)
	r.expectAnswer(t, token, http.StatusOK)
	running.ends(interruptKey)
}

func (r *readme) onOneDatabase(t *testing.T) {
	const create, listen = "tillwatch tokens create --name shop-floor", "tillwatch relay --listen :7430"
	r.find(t, create)
	r.find(t, listen)
	r.provide(t, "postgres", postgresSchema(t)) // or the test ends here
	created := r.run(t, "", create)
	created.ends("")
	issued := regexp.MustCompile(`[A-Z0-9]{26}`).FindString(created.prints("\n"))
	running := r.run(t, "", listen)
	running.prints("relay ready on http://")
	r.expectAnswer(t, issued, http.StatusOK)
	running.ends(interruptKey)
}

// expectAnswer waits until the relay gives this answer to the holder of a token.
func (r *readme) expectAnswer(t *testing.T, token string, want int) {
	t.Helper()
	got := 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+r.address[":7430"]+relay.EventsPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got = answer.StatusCode; got == want {
			return
		}
	}
	t.Errorf("the token %.4s… is answered %d, want %d", token, got, want)
}

// proofs has the tests that the README names list themselves, with the flags that it
// gives them: in their long form they take hours.
func (r *readme) proofs(t *testing.T) {
	programs := map[string]string{} // by package
	for _, block := range r.blocks {
		lines, _ := commands(block)
		for _, line := range lines {
			command, _, _ := strings.Cut(line, "#")
			words := strings.Fields(strings.ReplaceAll(command, "'", ""))
			if len(words) < 3 || words[0] != "go" || words[1] != "test" {
				continue
			}
			r.tried[line] = true
			tested := words[2]
			if programs[tested] == "" {
				programs[tested] = filepath.Join(t.TempDir(), "tests")
				if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", programs[tested], tested).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
			listing := exec.CommandContext(t.Context(), programs[tested], listed(words[3:])...)
			if out, err := listing.CombinedOutput(); err != nil || !regexp.MustCompile(`(?m)^(Test|Benchmark)`).Match(out) {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
}

// listed has a test program list what these arguments of go test would run.
func listed(args []string) (list []string) {
	selects := "-run"
	if i := strings.Index(strings.Join(args, " "), "-bench "); i >= 0 {
		selects = "-bench"
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; arg {
		case selects:
			list = append(list, "-test.list")
		case "-run":
			i++ // ^$ beside -bench
		case "-race":
		case "-v", "-timeout", "-benchtime":
			list = append(list, "-test."+arg[1:])
		default:
			list = append(list, arg)
		}
	}
	return list
}
