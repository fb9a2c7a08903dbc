package command

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tillwatch/relay"
)

var issuedToken = regexp.MustCompile(`[A-Z0-9]{26}`)

func TestTheRelaysREADMEWorksAsItStands(t *testing.T) {
	r := newReadme(t, "relay/README.md")
	r.replaced = []string{":7430", freePort(t), "/etc/tillwatch", r.home,
		"/var/lib/tillwatch", filepath.Join(r.home, "data")}
	writeFile(t, filepath.Join(r.home, "signing-secret"), oldSecret+"\n")
	writeFile(t, filepath.Join(r.home, "relay-token"), eventsToken+"\n")
	t.Run("one relay and its tokens", r.oneRelay)
	t.Run("several relays on one database", r.onOneDatabase)
	t.Run("proofs on demand", r.proofs)
	r.expectAllTried(t)
}

func (r *readme) oneRelay(t *testing.T) {
	running := r.run(t, "", "tillwatch relay --listen :7430 --data /var/lib/tillwatch")
	running.says("relay ready on http://")
	laptop := r.once(t, "", "tillwatch tokens create --data /var/lib/tillwatch --name laptop").ends("", "laptop")
	proxy := r.once(t, "", "tillwatch tokens create --data /var/lib/tillwatch --name proxy").ends("", "proxy")
	r.expectAnswer(t, issuedToken.FindString(laptop), http.StatusOK)
	r.expectAnswer(t, issuedToken.FindString(proxy), http.StatusForbidden) // it may only report
	r.once(t, "", "tillwatch tokens list").ends("", "laptop", "proxy")
	r.once(t, "", "tillwatch tokens revoke").ends("", "laptop")
	r.expectAnswer(t, issuedToken.FindString(laptop), http.StatusUnauthorized)
	r.expectAnswer(t, eventsToken, http.StatusOK)
	running.ends(interruptKey)
}

func (r *readme) onOneDatabase(t *testing.T) {
	const create, listen = "tillwatch tokens create --name shop-floor", "tillwatch relay --listen :7430"
	r.find(t, create)
	r.find(t, listen)
	writeFile(t, filepath.Join(r.home, "postgres"), postgresSchema(t)+"\n") // or the test ends here
	issued := issuedToken.FindString(r.once(t, "", create).ends("", "shop-floor"))
	running := r.run(t, "", listen)
	running.says("relay ready on http://")
	r.expectAnswer(t, issued, http.StatusOK)
	running.ends(interruptKey)
}

// expectAnswer waits until the relay gives this answer to the holder of a token.
func (r *readme) expectAnswer(t *testing.T, token string, want int) {
	t.Helper()
	running := &relayed{ready: ready{Listen: "http://" + r.local(":7430")}}
	eventually(t, http.StatusText(want)+" is the answer to a token", func() bool {
		return running.get(t, relay.EventsPath, token) == want
	})
}

// proofs has the tests that the README names list themselves, with the flags that it gives them: in their long form
// they take hours.
func (r *readme) proofs(t *testing.T) {
	itself, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"./ui/command": itself} // by package
	for _, command := range r.commands {
		line, _, _ := strings.Cut(command.line, " #")
		words := strings.Fields(strings.ReplaceAll(line, "'", ""))
		if len(words) < 3 || words[0] != "go" || words[1] != "test" {
			continue
		}
		command.tried = true
		tested := words[2]
		if programs[tested] == "" {
			programs[tested] = filepath.Join(t.TempDir(), "tests")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", programs[tested], tested)
			build.Dir = filepath.Join("..", "..")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		}
		out, err := exec.CommandContext(t.Context(), programs[tested], listArguments(words[3:])...).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "Test") && !strings.HasPrefix(string(out), "Benchmark") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// listArguments has a test program list what these arguments of go test would run.
func listArguments(args []string) (list []string) {
	benchmarks := strings.Contains(strings.Join(args, " "), "-bench ")
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-bench", arg == "-run" && !benchmarks:
			list = append(list, "-test.list")
		case arg == "-run":
			i++ // ^$ beside -bench
		case arg == "-v", arg == "-timeout", arg == "-benchtime":
			list = append(list, "-test."+arg[1:])
		default:
			list = append(list, arg)
		}
	}
	return list
}

// freePort is a port that nobody has, and that the system gives nobody who asks for any.
func freePort(t *testing.T) (port string) {
	t.Helper()
	for range 1000 {
		port = fmt.Sprintf(":%d", 10_000+rand.IntN(20_000))
		if listener, err := net.Listen("tcp", port); err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
