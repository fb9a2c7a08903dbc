package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShellsCompleteTheValuesOfFlags(t *testing.T) {
	config := filepath.Join(t.TempDir(), "tillwatch.toml")
	if err := os.WriteFile(config, []byte("[profile.live]\n[profile.staging]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TILLWATCH_CONFIG", config)
	for line, want := range map[string]string{
		"watch --theme":             "auto",
		"--theme":                   "nord",
		"watch --profile":           "live staging",
		"doctor --profile":          "live staging",
		"events --type":             "shipment.",
		"events resend ev_1 --type": "checkout_intent.completed",
		"tokens create --scope":     "stream read report admin",
		"create --payment":          "drawdown vault_token",
		"trigger":                   "checkout_intent.offer_failed",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, words := invoke(t, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
			if got := strings.Join(strings.Fields(out), " "); code != exitDone || !strings.Contains(got, want) {
				t.Errorf("exit code %d: %q lacks %q (%s)", code, got, want, words)
			}
		})
	}
}
