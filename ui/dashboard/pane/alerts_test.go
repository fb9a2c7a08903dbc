package pane

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
)

// drawnAlerts is what the pane shows after alerts came one by one.
func drawnAlerts(p *Alerts, alerts ...account.Alert) string {
	for i := range alerts {
		p.Apply(&account.Changes{Summary: account.Summary{Alerts: alerts[:i+1]}}, i == 0)
		p.Lines()
	}
	return ansi.Strip(strings.Join(p.Lines(), "\n"))
}

func TestTheTimeOfAnAlertIsNeitherCutOffNorReadWithItsAge(t *testing.T) {
	l := look()
	for w := 40; w <= 120; w++ {
		p := NewAlerts(l, nil)
		p.SetPlace(Place{W: w, H: 12})
		got := drawnAlerts(p,
			account.Alert{Kind: account.AlertExpiring, Text: "Reading Chair, Walnut expires unless it is confirmed", Intent: "ci_1", Since: l.Now.Add(-20 * time.Second), Due: l.Now.Add(9 * time.Minute)},
			account.Alert{Kind: account.AlertAwaiting, Text: "Salmon Treats, 8 oz has been awaiting confirmation for more than 20m", Intent: "ci_2", Since: l.Now.Add(-30 * time.Second)})
		if !regexp.MustCompile(`within 9m {3,}20s`).MatchString(got) || !regexp.MustCompile(`than 20m {3,}30s`).MatchString(got) {
			t.Errorf("%d columns:\n%s", w, got)
		}
	}
}

func TestAHeldCursorStaysOnItsAlert(t *testing.T) {
	p := NewAlerts(look(), nil)
	p.SetPlace(Place{W: 100, H: 12})
	alert := func(id api.ID, ago time.Duration) account.Alert {
		return account.Alert{Kind: account.AlertAwaiting, Intent: id, Text: string(id), Since: noon.Add(-ago)}
	}
	p.Apply(&account.Changes{Summary: account.Summary{Alerts: []account.Alert{alert("ci_1", time.Hour), alert("ci_2", time.Minute)}}}, true)
	if got := p.Subject().ID; got != "ci_2" {
		t.Errorf("the cursor is on %s, want the newest", got)
	}
	p.Hold(false)
	p.Forget() // the picture starts over
	p.Apply(&account.Changes{Summary: account.Summary{Alerts: []account.Alert{alert("ci_1", time.Hour), alert("ci_2", time.Minute), alert("ci_3", 0)}}}, false)
	if got := p.Subject().ID; got != "ci_2" {
		t.Errorf("after another came the cursor is on %s", got)
	}
}

func TestAConfirmInDoubtIsAboveAllOtherAlerts(t *testing.T) {
	p := NewAlerts(look(), nil)
	p.SetPlace(Place{W: 100, H: 12})
	got := drawnAlerts(p,
		account.Alert{Kind: account.AlertConfirm, Text: "Mug: its outcome", Intent: "ci_1", Since: noon.Add(-time.Hour)},
		account.Alert{Kind: account.AlertFailed, Text: "Lamp failed", Intent: "ci_2", Since: noon})
	if strings.Index(got, "Mug") > strings.Index(got, "Lamp") || p.Subject().ID != "ci_1" {
		t.Errorf("the alerts are\n%s", got)
	}
}
