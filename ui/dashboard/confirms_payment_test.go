package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestTheDialogNamesThePaymentThatIsSent(t *testing.T) {
	for sent, want := range map[api.PaymentType]string{"": "vault token", api.Drawdown: "drawdown"} {
		synctest.Test(t, func(t *testing.T) {
			s := typicalShop(time.Now())
			m := boardOf(t, s, 200, 55, func(c *Config) { armed(&guard{})(c); c.Payment = sent })
			s.reads[m.board.subject().ID].Payment = &api.PaymentMethod{Type: api.VaultToken}
			press(m, "c")
			if got := screen(m); !strings.Contains(got, "Payment       "+want) {
				t.Errorf("%q is sent, want %q:\n%s", sent, want, got)
			}
		})
	}
}
