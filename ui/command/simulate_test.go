package command

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestOfSeveralSigningSecretsTheSimulatorSignsWithTheFirst(t *testing.T) {
	isolate(t)
	type delivery struct{ body, signature string }
	delivered := make(chan delivery, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		select {
		case delivered <- delivery{string(body), request.Header.Get("x-svc-signature")}:
		default:
		}
	}))
	defer receiver.Close()
	t.Setenv("TILLWATCH_SIGNING_SECRET", "\n"+newSecret+"\r\n"+oldSecret+"\n")
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	said := &utterances{}
	go func() {
		code <- run(ctx, []string{"simulate", "--listen", "127.0.0.1:0", "--webhook-url", receiver.URL, "--intents-per-minute", "600",
			"--speed", "100"}, strings.NewReader(""), said, said)
	}()
	select {
	case d := <-delivered:
		if d.signature != signed(newSecret, d.body) {
			t.Errorf("%s is signed otherwise than with the first secret", d.body)
		}
	case <-time.After(patience):
		t.Errorf("nothing is delivered: %s", said)
	}
	stop()
	if got := <-code; got != exitDone {
		t.Errorf("exit code %d: %s", got, said)
	}
}
