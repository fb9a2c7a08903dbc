package command

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"tillwatch/api/simulator"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

func TestTheConfirmWindowOfADemoRunsAsFastAsItsShop(t *testing.T) {
	t.Parallel()
	on, err := openDemoServers(config.Defaults(), simulator.Config{Speed: 9}, t.TempDir(), 0)
	if err != nil || on.settings.ConfirmWindow != 5*time.Minute {
		t.Fatalf("window %v, %v; want 5m", on.settings.ConfirmWindow, err)
	}
	defer on.atProxy.Close()
	if err := session.Alongside(t.Context(), func(context.Context) error { return nil }, on.parts...); err != nil {
		t.Error(err)
	}
}

// TestEveryLimitIsLiveInADemo holds because the shop's own calls pass through a
// proxy: tillwatch itself creates nothing and looks nothing up.
func TestEveryLimitIsLiveInADemo(t *testing.T) {
	t.Parallel()
	var unknown []string
	live := func(line string) bool {
		var report struct {
			Quota []struct {
				Policy    string
				Remaining *int
			}
		}
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Errorf("%v in %s", err, line)
		}
		unknown = []string{"reads", "mutations", "product-lookup", "checkout-intents", "concurrent-agents"}
		for _, q := range report.Quota {
			unknown = slices.DeleteFunc(unknown, func(limit string) bool { return limit == q.Policy && q.Remaining != nil })
		}
		return len(unknown) == 0
	}
	code, _, words := invokeUntil(t, live, "demo", "--headless", "--json", "--seed", "7")
	if code != exitDone || len(unknown) > 0 {
		t.Errorf("exit code %d, %s; nothing is ever known of %v", code, words, unknown)
	}
}
