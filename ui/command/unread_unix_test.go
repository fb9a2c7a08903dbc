//go:build unix

package command

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
)

func TestAConfirmWhoseOutputNobodyReadsIsUnknownToItsScript(t *testing.T) {
	sent := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state := "awaiting_confirmation"
		if r.Method == http.MethodPost {
			sent++
			state = "placing_order"
		}
		fmt.Fprintf(w, `{"id":"ci_abcd","state":%q,"offer":{"cost":{"total":{"currencyCode":"USD","amountSubunits":4452}}}}`, state)
	}))
	defer service.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	var words bytes.Buffer
	confirm := exec.Command(os.Args[0], "confirm", "ci_abcd", "--total", "44.52USD", "--allow-confirm", "--live", "abcd", "--api-url", service.URL)
	confirm.Env = append(os.Environ(), asProgram+"=1", "TILLWATCH_API_KEY=key-of-the-test", "XDG_STATE_HOME="+t.TempDir())
	confirm.Stdout, confirm.Stderr = writer, &words
	_ = confirm.Run() // the state says more
	if code := confirm.ProcessState.ExitCode(); code != 4 || sent != 1 {
		t.Errorf("%v after %d sends: %s", confirm.ProcessState, sent, words.String())
	}
}
