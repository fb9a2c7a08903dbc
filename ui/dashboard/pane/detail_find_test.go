package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestTheTitleOfADetailNamesTheMatchUnderACursorThatItsLinesLeftBehind(t *testing.T) {
	item := func(id string) *account.Intent { return intentOf(id, api.AwaitingConfirmation, time.Minute) }
	p := NewDetail(look(), api.ConfirmWindow)
	p.SetPlace(Place{W: 80, H: 30})
	p.Open(Subject{Kind: OfOrder, ID: "order-7"})
	p.SetFacts(Facts{Order: account.NewOrder("order-7", []*account.Intent{item("a"), item("b"), item("c")})})
	p.Lines()
	p.Move(Last)
	p.Find("no intent", p.Line())
	p.Lines()

	p.SetFacts(Facts{})
	if got := text(p.Lines()); !strings.Contains(got, "1 of 1") {
		t.Errorf("the cursor is on the only match, but the title does not say so:\n%s", got)
	}
}
