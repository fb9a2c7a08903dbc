package dialog

import (
	"errors"
	"testing"
	"time"

	"tillwatch/api/confirm"
)

func TestSettlingSaysWhyAndForHowLong(t *testing.T) {
	h := open(t, socks(), false)
	h.key("C", calm)
	h.dialog.SetNow(opened)
	h.dialog.SetProgress(confirm.Progress{Stage: confirm.Settling, Why: errors.New("404 not found"), By: opened.Add(2 * time.Minute), Until: opened.Add(150 * time.Second)})
	h.sees("▸ Settle")
	h.sees("Because: 404 not found")
	h.sees("else in 2m.")
	h.dialog.SetNow(opened.Add(30 * time.Second))
	h.sees("1m30s. If they fail")
	h.dialog.SetNow(opened.Add(2 * time.Minute))
	h.sees("Not settled yet: reads go on for 30s here")
}

// Each stage says what it waits for, how long, and which try it is.
func TestStagesSayWhatTheyWaitFor(t *testing.T) {
	at := opened.Add(-7 * time.Second)
	for name, c := range map[string]struct {
		at   confirm.Progress
		want string
	}{
		"a slow read":         {confirm.Progress{Stage: confirm.Rereading, At: at, Try: 1}, "▸ Read again  reading it again, for 7s"},
		"no quota":            {confirm.Progress{Stage: confirm.Sending, At: at, Until: at.Add(20 * time.Second), Try: 1}, "▸ Send        waiting 7s of 20s for quota"},
		"a slow answer":       {confirm.Progress{Stage: confirm.Sending, At: at, Gone: true, Until: at.Add(20 * time.Second), Try: 1}, "▸ Send        waiting 7s of 20s for the answer"},
		"a refusal":           {confirm.Progress{Stage: confirm.Pausing, At: at, Until: opened.Add(3 * time.Second), Try: 2, Tries: 4}, "▸ Send        429: again in 3s, try 2 of 4"},
		"a second try":        {confirm.Progress{Stage: confirm.Sending, At: at, Gone: true, Until: at.Add(20 * time.Second), Try: 2, Tries: 4}, "try 2 of 4: waiting 7s of 20s for the answer"},
		"the read before one": {confirm.Progress{Stage: confirm.Rereading, At: at, Try: 2, Tries: 4}, "▸ Read again  try 2 of 4: reading it again, for 7s"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, socks(), false)
			h.key("C", calm)
			h.dialog.SetNow(opened)
			h.dialog.SetProgress(c.at)
			h.sees(c.want)
		})
	}
}

// Until it is written down, esc takes the yes back; from then on it hides.
func TestEscapeCancelsUntilItIsWrittenDown(t *testing.T) {
	for name, c := range map[string]struct {
		at   confirm.Progress
		want Kind
		foot string
	}{
		"read again":  {confirm.Progress{Stage: confirm.Rereading, Try: 1}, Withdrawn, "esc cancel"},
		"on its way":  {confirm.Progress{Stage: confirm.Sending, Try: 1}, Closed, "esc hide"},
		"a later try": {confirm.Progress{Stage: confirm.Rereading, Try: 2}, Closed, "esc hide"},
		"in doubt":    {confirm.Progress{Stage: confirm.Settling, Try: 1}, Closed, "esc hide"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, socks(), false)
			h.key("C", calm)
			h.dialog.SetProgress(c.at)
			h.sees(c.foot)
			if got := h.key("esc", calm); got != c.want {
				t.Errorf("esc answers %v, want %v", got, c.want)
			}
			if c.want == Withdrawn {
				h.sees("Canceling")
				if got := h.key("esc", calm); got != Closed {
					t.Errorf("a second esc answers %v", got)
				}
			}
		})
	}
}

// After an earlier confirm in doubt the dialog says so first, and the yes is typed even where no money is real.
func TestAnEarlierConfirmInDoubtIsSaidFirstAndHasTheYesTyped(t *testing.T) {
	h := open(t, socks(), false)
	if err := h.dialog.SetEarlier("? A confirm of this was sent at 12:48:21, and its outcome is unknown."); err != nil {
		t.Fatal(err)
	}
	h.sees("? A confirm of this was sent at 12:48:21, and its outcome is")
	if h.key("C", calm) == Confirmed {
		t.Fatal("C alone confirms")
	}
	h.key("backspace", calm)
	h.write("2ed7")
	h.sees("armed")
	h.key("tab", calm)
	if got := h.key("enter", calm); got != Confirmed {
		t.Errorf("typed and pressed, it answers %v", got)
	}
}
