package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// awaiting is a board of lanes with one intent that can be confirmed until some time
// from noon on.
func awaiting(width int, left time.Duration, change func(*account.Intent)) *Intents {
	in := &account.Intent{ID: "ci_1", State: api.AwaitingConfirmation, Certainty: account.Verified, Product: "Mug", Merchant: "acme.example",
		Total: &api.Money{Currency: "USD", Subunits: 4452}, ExpiresAt: noon.Add(left)}
	if change != nil {
		change(in)
	}
	p := NewIntents(look(), 45*time.Minute)
	p.SetPlace(Place{W: width, H: 20})
	p.Apply(&account.Changes{Intents: []*account.Intent{in}}, true)
	return p
}

func TestTheBarOfAConfirmWindowShrinks(t *testing.T) {
	cases := []struct {
		name  string
		width int
		left  time.Duration
		want  string
	}{
		{"whole", 200, 45 * time.Minute, "━━━━━━━━━ expires in 45m"},
		{"more than whole, by a clock that is ahead", 200, 47 * time.Minute, "━━━━━━━━━ expires in 47m"},
		{"half", 200, 22 * time.Minute, "━━━━╸──── expires in 22m"},
		{"little", 200, 9 * time.Minute, "━━─────── expires in  9m"},
		{"the last second shows", 200, time.Second, "╸──────── expires in  1s"},
		{"none once it is over", 200, 0, "acme.example                          expired"},
		{"with the text cut short to make room", 160, 22 * time.Minute, "━━━╸─── in 22m"},
		{"of years, by a date in the future", 170, 26_701 * 24 * time.Hour, "in 26,701d"},
		{"none where the merchant needs the room", 120, 22 * time.Minute, "acme.example       in 22m"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := text(awaiting(c.width, c.left, nil).Lines()); !strings.Contains(got, c.want) {
				t.Errorf("no %q in\n%s", c.want, got)
			}
		})
	}
}

func TestTheBarOfAConfirmWindowGivesWayToWhatMattersMore(t *testing.T) {
	cases := map[string]func(*account.Intent){
		"gone":         func(in *account.Intent) { in.Missing = true },
		"only told of": func(in *account.Intent) { in.Certainty = account.Reported },
	}
	for name, change := range cases {
		if got := text(awaiting(200, time.Hour, change).Lines()); strings.Contains(got, "━") {
			t.Errorf("%s: a bar is drawn:\n%s", name, got)
		}
	}
	p := awaiting(200, 30*time.Minute, nil)
	p.SetNote("ci_1", Note{Text: "confirming…"})
	if got := text(p.Lines()); strings.Contains(got, "━") || !strings.Contains(got, "confirming…") {
		t.Errorf("a bar is drawn beside a confirm:\n%s", got)
	}
}

func TestAConfirmWindowIsCountedByTheServicesClock(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, 0, -time.Hour} {
		p := awaiting(200, 22*time.Minute-ahead, nil) // by this machine's clock
		p.cards.look.Ahead = ahead
		if got := text(p.Lines()); !strings.Contains(got, "expires in 22m") {
			t.Errorf("ahead by %v:\n%s", ahead, got)
		}
	}
}
