package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
)

func TestTheFirstFrameWaitsForThePictureButNotForLong(t *testing.T) {
	cases := []struct {
		name  string
		ends  tea.Msg
		shown bool
	}{
		{"a key", tea.KeyPressMsg{Code: tea.KeyTab}, false},
		{"the picture", changesMsg{account.Changes{Version: 1, At: time.Now(), Whole: true}}, true},
		{"the end of patience", pictureLateMsg{}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := New(Config{Source: typicalShop(time.Now()), NoColor: true})
			m.awaited = true
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			if got := drawing(m); strings.TrimSpace(got) != "" {
				t.Fatalf("before the picture it draws %q", got)
			}
			m.Update(c.ends)
			if got := drawing(m); (strings.TrimSpace(got) != "") != c.shown {
				t.Errorf("after %s it draws %q", c.name, got)
			}
		})
	}
}
