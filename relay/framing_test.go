package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
)

// What follows a request of doubtful length on its connection may be a part of
// it, or a request that somebody has smuggled in.
func TestAConnectionEndsWhereTheLengthOfARequestIsInDoubt(t *testing.T) {
	body := eventBody(1)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	signature := "X-Svc-Signature: " + sign(testSecret, body) + "\r\n"
	post := "POST " + WebhookPath + " HTTP/1.1\r\nHost: x\r\n" + signature
	for _, test := range []struct {
		name, request string
		status        int
		ends          bool
	}{
		{"a length", post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), 200, false},
		{"no body", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", 200, false},
		{"both a length and chunks", post + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s", len(chunked), chunked), 200, true},
		{"both, the other way round", post + fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n%s", chunked), 200, true},
		{"both, unsigned", "POST " + WebhookPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 401, true},
		{"both, where there is nothing", "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 404, true},
		{"both, at a probe", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, true},
		{"both, by HTTP/1.0", fmt.Sprintf("POST "+WebhookPath+" HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n%sContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s",
			signature, len(body), body), 200, true},
		{"chunks alone, which the server cannot tell from both", post + "Transfer-Encoding: chunked\r\n\r\n" + chunked, 200, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, n := newTestRelay(t, newMemory(t), nil), newNetwork()
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- r.Serve(ctx, n) }()
				c, err := n.dial(ctx, "", "")
				if err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.WriteString(c, test.request+"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n") }()
				answers := bufio.NewReader(c)
				answer, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				if answer.StatusCode != test.status || answer.Close != test.ends {
					t.Errorf("%d, says that it closes: %v", answer.StatusCode, answer.Close)
				}
				if _, err := http.ReadResponse(answers, nil); (err != nil) != test.ends {
					t.Errorf("what followed was answered: %v", err == nil)
				}
				_ = c.Close()
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
