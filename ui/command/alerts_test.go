package command

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// documentedAlerts is the page about alerts, and its example in a language.
func documentedAlerts(t *testing.T, language string) (page, example string) {
	t.Helper()
	text, err := os.ReadFile("ALERTS.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatalf("the page has no example in %s", language)
	}
	return string(text), string(block[1])
}

func TestTheDocumentedAlertsAreWhatTheyAre(t *testing.T) {
	isolate(t)
	page, example := documentedAlerts(t, "toml")
	s, err := load(t, "--config", writeConfig(t, example))
	if err != nil || !s.AlertCommandLive || !slices.Equal(s.AlertCommand, []string{"notify-alert", "--to", "till"}) {
		t.Errorf("loaded %q, live %v, %v", s.AlertCommand, s.AlertCommandLive, err)
	}
	for _, kind := range account.AlertKinds() {
		if !strings.Contains(page, "`"+string(kind)+"`") {
			t.Errorf("the page does not name the kind %s", kind)
		}
	}
	_, example = documentedAlerts(t, "json")
	strict := json.NewDecoder(strings.NewReader(example))
	strict.DisallowUnknownFields()
	var n attention.Notice
	if err := strict.Decode(&n); err != nil || n.Due.IsZero() {
		t.Errorf("the example is read as %+v, %v", n, err)
	}
}
