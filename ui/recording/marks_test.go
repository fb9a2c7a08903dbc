package recording

import (
	"fmt"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestOfFailuresThatWereLetGoNothingIsRemembered(t *testing.T) {
	var m marker
	for i := range 1000 {
		failed := &account.Intent{ID: api.ID(fmt.Sprintf("ci_%d", i)), State: api.Failed}
		m.of(&account.Changes{Intents: []*account.Intent{failed}}, false)
		if i > 0 {
			m.of(&account.Changes{GoneIntents: []api.ID{failed.ID}}, false)
		}
	}
	if len(m.failed) != 1 || !m.failed["ci_0"] {
		t.Errorf("%d failures are remembered, want the only one that is kept", len(m.failed))
	}
}
