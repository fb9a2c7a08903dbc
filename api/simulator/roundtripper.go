package simulator

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
)

// RoundTripper calls a handler within the process, with a network's rough edges: a request goes on when its caller
// stops waiting, and an aborted answer is a broken connection. It works within a bubble of [testing/synctest].
type RoundTripper struct{ Handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (w RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	answered := make(chan *http.Response, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
			close(answered)
		}()
		asked := r.Clone(context.WithoutCancel(r.Context()))
		asked.Header = onTheWire(r.Header)
		asked.Body = io.NopCloser(bytes.NewReader(body))
		recorder := httptest.NewRecorder()
		w.Handler.ServeHTTP(recorder, asked)
		answered <- recorder.Result()
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case response, ok := <-answered:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return response, nil
	}
}

// onTheWire returns a header as a server reads it, with canonical names.
func onTheWire(sent http.Header) http.Header {
	read := http.Header{}
	for name, values := range sent {
		for _, value := range values {
			read.Add(name, value)
		}
	}
	return read
}
