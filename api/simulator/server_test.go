package simulator

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A client within the process hands its requests over as it made them: a GET
// without any body.
func TestARequestWithoutABodyIsAnswered(t *testing.T) {
	rows{
		"of the API": func(a *account) { a.bodiless("/api/v1/shipments") },
		"of control": func(a *account) { a.bodiless("/control/state") },
	}.run(t)
}

func (a *account) bodiless(path string) {
	a.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://api.example"+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	w := httptest.NewRecorder()
	a.sim.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		a.Errorf("status %d: %s", w.Code, w.Body)
	}
}
