package dashboard

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/dialog"
)

func makes(id api.ID, err error, asked *dialog.Draft) func(*Config) {
	return func(c *Config) {
		c.Creator = Creator{Magic: []string{"sold-out"}, Create: func(_ context.Context, w dialog.Draft) (api.ID, error) {
			*asked = w
			return id, err
		}}
	}
}

// answeredBy has the account of a board answered from somewhere.
func answeredBy(m *Model, where api.Environment) {
	m.picture.summary.API.From = where
}

func TestANewIntentIsMadeOfAStandInAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		where  api.Environment
		maker  bool
		reason string
	}{
		{"a stand-in", api.Environment{Name: "simulator", StandIn: true}, true, ""},
		{"the service", api.Environment{Name: "production", Live: true}, true, "this is production: tillwatch create makes one"},
		{"a tunnel", api.Environment{Name: "127.0.0.1:7420", Live: true}, true, "this is 127.0.0.1:7420"},
		{"no answer yet", api.Environment{Name: "unknown"}, true, "nothing has answered yet"},
		{"nobody who makes it", api.Environment{Name: "simulator", StandIn: true}, false, "no intent can be made here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked dialog.Draft
			with := func(*Config) {}
			if c.maker {
				with = makes("ci_new", nil, &asked)
			}
			m := boardOf(t, typicalShop(time.Now()), 160, 45, with)
			answeredBy(m, c.where)
			press(m, "n")
			if m.dialog.open() != (c.reason == "") || !strings.Contains(screen(m), c.reason) {
				t.Errorf("want %q in\n%s", c.reason, screen(m))
			}
		})
	}
}

func TestTheCursorGoesToTheIntentThatWasMadeOnceItArrives(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		var asked dialog.Draft
		m := boardOf(t, typicalShop(time.Now()), 160, 45, makes("ci_new", nil, &asked))
		answeredBy(m, api.Environment{Name: "simulator", StandIn: true})
		press(m, "2")
		perform(m, press(m, "n", "s", "o", "tab", "2", "enter"))
		if want := (dialog.Draft{Product: "so", Quantity: 12}); asked != want || m.dialog.open() || !strings.Contains(screen(m), "✓ created ci_new") {
			t.Fatalf("asked for %+v:\n%s", asked, screen(m))
		}
		if frozen {
			press(m, "space")
		}
		c := account.Changes{Version: 1 << 40, Summary: m.picture.summary, Intents: []*account.Intent{{ID: "ci_new", State: api.RetrievingOffer, Product: "New Mug", CreatedAt: time.Now()}}}
		m.Update(changesMsg{Changes: c})
		if in, ok := m.board.intentUnder(); frozen && ok && in.ID == "ci_new" {
			t.Error("the cursor moves on a frozen screen")
		}
		if frozen {
			press(m, "space")
		}
		if in, ok := m.board.intentUnder(); !ok || in.ID != "ci_new" {
			t.Errorf("frozen %v: the cursor is not on it:\n%s", frozen, screen(m))
		}
	}
}

func TestWhyAnIntentWasNotMadeStandsInTheDialog(t *testing.T) {
	var asked dialog.Draft
	m := boardOf(t, typicalShop(time.Now()), 80, 24, makes("", errors.New("refused: body.quantity: min 0"), &asked))
	answeredBy(m, api.Environment{Name: "simulator", StandIn: true})
	perform(m, press(m, "n", "m", "u", "g", "enter"))
	if got := screen(m); !m.dialog.open() || !strings.Contains(got, "refused: body.quantity: min 0") || !strings.Contains(got, "mug▏") {
		t.Errorf("the dialog says nothing:\n%s", got)
	}
	sent := press(m, "enter")
	press(m, "esc")
	perform(m, sent)
	if got := screen(m); m.dialog.open() || !strings.Contains(got, "! refused: body.quantity") {
		t.Errorf("nor the board, once it is closed:\n%s", got)
	}
}

func TestACursorThatWasMovedIsNotTakenByAnIntentThatArrives(t *testing.T) {
	var asked dialog.Draft
	s := typicalShop(time.Now())
	m := boardOf(t, s, 160, 45, makes("ci_new", nil, &asked))
	answeredBy(m, api.Environment{Name: "simulator", StandIn: true})
	perform(m, press(m, "n", "s", "o", "tab", "2", "enter"))
	press(m, "j")
	under := m.board.subject()
	m.Update(changesMsg{account.Changes{Version: 1 << 40, Summary: m.picture.summary, Intents: []*account.Intent{{ID: "ci_new", State: api.RetrievingOffer, CreatedAt: time.Now()}}}})
	if got := m.board.subject(); got != under {
		t.Errorf("the cursor went from %v to %v", under, got)
	}
}
