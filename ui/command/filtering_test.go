package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/api/simulator"
)

// keptFilters has a state folder remember filters under names.
func keptFilters(t *testing.T, state string) {
	t.Helper()
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(state, "layout.json"), `{"version": 1, "filters": [
		{"name": "lost", "pane": "intents", "text": "state:failed"},
		{"name": "parcels", "pane": "events", "text": "type:shipment"}]}`)
}

func TestStatusCountsWhatAFilterFinds(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Lists = simulator.ListsServed
	w := newWorld(t, c)
	w.ordered(t)
	state := t.TempDir()
	keptFilters(t, state)
	config := configFile(t, "api_url", w.settings.APIURL, "api_key", w.settings.APIKey.Reveal(), "state_dir", state)
	for _, c := range []struct {
		name, filter                string
		awaiting, completed, failed float64
		alert                       bool // of the intent that failed
	}{
		{"all", "", 2, 1, 1, true},
		{"of a state", "state:failed", 0, 0, 1, true},
		{"by its name, in any case", "Lost", 0, 0, 1, true},
		{"of a bound", "quantity>1", 1, 0, 0, false},
		{"of another order", "order-8", 0, 1, 0, false},
		{"that finds nothing", "merchant:nobody", 0, 0, 0, false},
	} {
		r := runAs(t, "status", "--json", "--config", config, "--filter", c.filter)
		if len(r.objects) != 1 {
			t.Fatalf("%s: %s%s", c.name, r.out, r.words)
		}
		got := r.objects[0]["intents"].(map[string]any)
		if got["awaiting_confirmation"] != c.awaiting || got["completed"] != c.completed || got["failed"] != c.failed {
			t.Errorf("%s: counted %v", c.name, got)
		}
		if alert := strings.Contains(r.out, "Chili Crisp failed: payment failed"); alert != c.alert {
			t.Errorf("%s: alerts are %v", c.name, r.objects[0]["alerts"])
		}
	}
	if r := runAs(t, "status", "--config", config, "--filter", "lost"); !strings.Contains(r.out, "state:failed: only matching intents") {
		t.Errorf("the sheet does not say what it counts:\n%s%s", r.out, r.words)
	}
}

func TestEventsPrintsWhatAFilterFinds(t *testing.T) {
	startEvents(t, 5) // three of a shipment
	state := t.TempDir()
	keptFilters(t, state)
	t.Setenv("TILLWATCH_STATE_DIR", state)
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"of a type", []string{"--filter", "type:shipment"}, 3},
		{"by its name", []string{"--filter", "parcels"}, 3},
		{"of two terms", []string{"--filter", "!type:shipment age<1h"}, 2},
		{"with a limit of what is printed", []string{"--filter", "type:completed", "--limit", "2"}, 2},
		{"that finds nothing", []string{"--filter", "age>1h"}, 0},
	} {
		if code, out, said := events(t, append(c.args, "--json")...); code != exitDone || len(eventLines(t, out)) != c.want {
			t.Errorf("%s: exit code %d, %s%s", c.name, code, out, said)
		}
	}
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
