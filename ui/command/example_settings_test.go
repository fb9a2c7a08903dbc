package command

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const exampleSettings = "tillwatch.example.toml"

func TestTheExampleOfSettingsHoldsTheDefaults(t *testing.T) {
	isolate(t)
	got := loadExample(t)
	want := defaults()
	want.WatchIDs, want.Keys, want.Profiles = []string{}, keyBindings{}, []string{"live", "staging"}
	want.Sources, want.SecretFiles = got.Sources, map[string]string{} // where they come from is no setting
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the example says\n%+v\nand the defaults are\n%+v", got, want)
	}
}

func TestTheProfilesOfTheExampleLoad(t *testing.T) {
	isolate(t)
	if s := loadExample(t, "--profile", "staging"); !s.AllowConfirm || s.APIURL != "https://api.staging.example" {
		t.Errorf("staging is %+v", s)
	}
	if s := loadExample(t, "--profile", "live"); s.AllowConfirm || s.Theme != "light" {
		t.Errorf("live is %+v", s)
	}
}

func TestTheExampleNamesEverySetting(t *testing.T) {
	text, err := os.ReadFile(exampleSettings)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range settingKeys() {
		name := key[strings.LastIndex(key, ".")+1:]
		if !regexp.MustCompile(`(?m)^(# |\[|# \[\[)?` + name + `( = |\])`).Match(text) {
			t.Errorf("the example does not name %s", key)
		}
	}
}

func loadExample(t *testing.T, args ...string) settings {
	t.Helper()
	s, err := load(t, append([]string{"--config", exampleSettings}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
