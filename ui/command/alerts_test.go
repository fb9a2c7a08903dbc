package command

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tillwatch/api"
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

func TestAProfileHasItsOwnProgramForAlerts(t *testing.T) {
	isolate(t)
	path := writeConfig(t, "alert_command = ['a', 'b,c']\n[profile.live]\nalert_command = ['d']\n[profile.quiet]\nalert_command = []\n")
	for profile, want := range map[string]programLine{"": {"a", "b,c"}, "live": {"d"}, "quiet": {}} {
		if s, err := load(t, "--config", path, "--profile", profile); err != nil || !slices.Equal(s.AlertCommand, want) || s.AlertCommandLive {
			t.Errorf("profile %q has %q, %v", profile, s.AlertCommand, err)
		}
	}
}

func TestAProgramForAlertsThatCannotBeMeantIsRefused(t *testing.T) {
	isolate(t)
	for config, want := range map[string]string{
		"alert_command = 'notify-alert hidden'":    "alert_command must be a list, such as " + programLineHint + ": no shell runs it",
		"alert_command = ['hidden', 5]":            "alert_command must be a list",
		"alert_command = [' ', 'hidden']":          "alert_command must be a program and its arguments",
		"[[alert]]\ncommand = ['hidden']":          `there is no setting "alert"`,
		"[profile.live]\nalert_command = 'hidden'": "alert_command must be a list",
		"alert_command_live = 'sometimes'":         "alert_command_live is",
	} {
		_, err := load(t, "--config", writeConfig(t, config), "--profile", profileOf(config))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

// profileOf is the profile that a configuration is about; "" for none.
func profileOf(config string) string {
	if strings.Contains(config, "[profile.live]") {
		return "live"
	}
	return ""
}

func TestAProgramSeesNoKeys(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_KEY", "key-01")
	t.Setenv("TILLWATCH_OTHER", "x")
	t.Setenv("CHECKOUT", "Bearer key-01")
	t.Setenv("TOKEN", "bin")
	t.Setenv("SEARCHED", "/bin")
	t.Setenv("HARMLESS", "yes")
	environment := strings.Join(settings{APIKey: api.NewSecret("key-01"), RelayToken: api.NewSecret("bin")}.programEnvironment(os.Environ()), "\n")
	if strings.Contains(environment, "key-01") || strings.Contains(environment, "TOKEN=bin") || !strings.Contains(environment, "SEARCHED=/bin") || strings.Contains(environment, variablePrefix) || !strings.Contains(environment, "HARMLESS=yes") {
		t.Errorf("it sees\n%s", environment)
	}
}
