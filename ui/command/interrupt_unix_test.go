//go:build unix

package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// As timeout(1) sends it: to the process, and to its group.
func TestAnInterruptThatComesTwiceEndsAForwarderInGoodOrder(t *testing.T) {
	startEvents(t, 1)
	asked, release := make(chan struct{}), make(chan struct{})
	arrived := sync.OnceFunc(func() { close(asked) })
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived()
		<-release
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer target.Close()
	program := exec.Command(os.Args[0], "forward", "--to", target.URL, "--since", "earliest")
	said := &utterances{}
	program.Env, program.Stderr = append(os.Environ(), asProgram+"=1"), said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	for range 50 {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			_ = program.Process.Signal(s) // it may have ended
		}
	}
	close(release)
	_ = program.Wait() // the state says more
	if state := program.ProcessState; state.ExitCode() != exitWaiting || !strings.Contains(said.String(), "not delivered yet: 1 event") {
		t.Errorf("%v: %s", state, said)
	}
}
