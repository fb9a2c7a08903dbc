package attention

import (
	"testing"
	"time"

	"tillwatch/api/account"
)

// What was done while the clock was days ahead must not hide anything for days.
func TestNothingIsHiddenAfterTheClockWasSetBack(t *testing.T) {
	a, ahead := account.Alert{Kind: account.AlertFailed, Intent: "ci_1"}, noon.Add(72*time.Hour)
	t.Run("by a mute", func(t *testing.T) {
		var m Memory
		m.Put(Off{Key: KeyOf(a), At: ahead, Until: ahead.Add(time.Hour)})
		if _, ok := m.OffOf(a, noon); ok {
			t.Error("it is muted before it was")
		}
		if _, ok := m.OffOf(a, ahead.Add(-time.Second)); !ok {
			t.Error("a clock that is drawn back by a second lifts it")
		}
	})
	t.Run("by when somebody looked", func(t *testing.T) {
		var m Memory
		m.See(ahead, ahead)
		m.See(noon.Add(-time.Minute), noon)
		if want := noon.Add(-time.Minute); !m.Looked.Equal(want) {
			t.Errorf("somebody looked at %v, want %v", m.Looked, want)
		}
	})
}
