package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keptFilters has a state folder remember filters under names.
func keptFilters(t *testing.T, state string) {
	t.Helper()
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(state, "layout.json"), `{"filters": [
		{"name": "lost", "pane": "intents", "text": "state:failed"},
		{"name": "parcels", "pane": "events", "text": "type:shipment"}]}`)
}

func TestAWrongFilterIsRefusedInTheSameWordsEverywhere(t *testing.T) {
	isolate(t)
	state := t.TempDir()
	keptFilters(t, state)
	t.Setenv("TILLWATCH_STATE_DIR", state)
	account := []string{"--api-url", "http://127.0.0.1:1", "--relay-url", "http://127.0.0.1:1"}
	t.Setenv("TILLWATCH_API_KEY", "the-key-of-nothing")
	for _, c := range []struct {
		command, filter, says string
	}{
		{"watch", "colour:red", `filter is "colour:red": there is no field colour; there are state, merchant, product, id, reason, total, age, quantity`},
		{"status", "colour:red", `filter is "colour:red": there is no field colour; there are state, merchant, product, id, reason, total, age, quantity`},
		{"status", "age>soon", "write a time with its unit"},
		{"status", "/(/", "missing closing"},
		{"status", "parcels", `filter is "parcels": parcels filters events, not intents`},
		{"events", "colour:red", "there is no field colour; there are type, id, origin, age"},
		{"events", "product:mug", "there is no field product; there are type, id, origin, age"},
		{"events", "lost", "lost filters intents, not events"},
		{"events", strings.Repeat("a", 5000), "a filter may have at most 120 characters"},
	} {
		args := append([]string{c.command, "--filter", c.filter}, account...)
		if c.command == "events" {
			args = append(args[:3], account[2:]...)
		}
		if r := runAs(t, args...); r.code != exitUsage || !strings.Contains(r.words, c.says) {
			t.Errorf("%s --filter %.20s: exit code %d, %s", c.command, c.filter, r.code, r.words)
		}
	}
	for _, args := range [][]string{{"evt_1", "--filter", "a"}, {"--quarantined", "--filter", "a"}} {
		if code, _, said := events(t, args...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
	}
}
