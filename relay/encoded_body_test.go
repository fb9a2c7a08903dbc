package relay

import (
	"bytes"
	"compress/zlib"
	"net/http"
	"testing"
)

// The signature counts over the bytes as they arrive: nothing is decompressed.
func TestABodyWithAContentEncodingIsVerifiedAsItArrives(t *testing.T) {
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(eventBody(1))
	_ = w.Close()
	for _, test := range []struct {
		name         string
		signed, sent []byte
		status       int
		stored       int64
		reason       string // "": it is not quarantined
	}{
		{"signed compressed", deflated.Bytes(), deflated.Bytes(), http.StatusOK, 0, "compressed (Content-Encoding: deflate), so it cannot be read"},
		{"signed before it was compressed", eventBody(1), deflated.Bytes(), http.StatusUnauthorized, 0, ""},
		{"signed compressed and decompressed on the way", deflated.Bytes(), eventBody(1), http.StatusUnauthorized, 0, ""},
		{"not compressed, whatever the header says", eventBody(1), eventBody(1), http.StatusOK, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory := newMemory(t)
			req := signedRequest(test.sent)
			req.Header.Set("x-svc-signature", sign(testSecret, test.signed))
			req.Header.Set("Content-Encoding", "deflate")
			if w := serve(newTestRelay(t, memory, nil).Ingest(), req); w.Code != test.status {
				t.Errorf("answered %d %s, want %d", w.Code, w.Body, test.status)
			}
			if head := headOf(t, memory); head != test.stored {
				t.Errorf("%d events are stored, want %d", head, test.stored)
			}
			aside, err := memory.Quarantined(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if test.reason == "" && len(aside) == 0 {
				return
			}
			if len(aside) != 1 || aside[0].Reason != test.reason || !bytes.Equal(aside[0].Body, test.sent) {
				t.Errorf("quarantined is %+v, want the body as it came, because it is %q", aside, test.reason)
			}
		})
	}
}
