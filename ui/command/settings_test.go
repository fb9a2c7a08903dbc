package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// isolate hides the settings of whoever runs the tests and returns a folder for
// a configuration file.
func isolate(t *testing.T) string {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "TILLWATCH_") {
			t.Setenv(name, "") // so that the old value comes back afterwards
			os.Unsetenv(name)
		}
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("HOME", dir)
	return dir
}

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tillwatch.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, args ...string) (settings, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	accountFlags(flags)
	flags.Bool("allow-confirm", false, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return loadSettings(flags)
}

func TestFlagsWinOverEnvironmentOverProfileOverFileOverDefaults(t *testing.T) {
	isolate(t)
	path := writeConfig(t, `
api_url = "https://file.example"
relay_url = "https://file-relay.example"
poll_share = 0.1
confirm_window = "30m"
theme = "light"

[profile.staging]
relay_url = "https://profile-relay.example"
poll_share = 0.2
`)
	t.Setenv("TILLWATCH_POLL_SHARE", "0.5")
	t.Setenv("TILLWATCH_THEME", "dark")
	t.Setenv("TILLWATCH_UNHEARD_OF", "left alone")
	s, err := load(t, "--config", path, "--profile", "staging", "--poll-share", "0.9")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{s.APIURL, s.RelayURL, s.PollShare, s.Theme, s.ConfirmWindow.String(), s.HeaderPrefix}
	want := []any{"https://file.example", "https://profile-relay.example", 0.9, "dark", "30m0s", "x-svc-"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("setting %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestSecretsComeFromFilesAndAreNeverPrinted(t *testing.T) {
	dir := isolate(t)
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, []byte("sk-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TILLWATCH_API_KEY_FILE", path)
	t.Setenv("TILLWATCH_SIGNING_SECRET", "hush-hush-hush-hush")
	s, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	if s.APIKey.Reveal() != "sk-from-file" || s.SigningSecret.Reveal() != "hush-hush-hush-hush" {
		t.Errorf("secrets were read as %q and %q", s.APIKey.Reveal(), s.SigningSecret.Reveal())
	}
	if printed := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(printed, "sk-from") || strings.Contains(printed, "hush") {
		t.Errorf("printing the settings tells a secret: %s", printed)
	}
}

func TestBadSettingsAreOneClearSentence(t *testing.T) {
	dir := isolate(t)
	cases := []struct {
		name, config, want string
		env                map[string]string
		args               []string
	}{
		{name: "a configuration file that is not there", args: []string{"--config", filepath.Join(dir, "none.toml")}, want: "there is no configuration file"},
		{name: "a file that is not TOML", config: "theme = 'dark'\napi_url = ", want: "tillwatch.toml, line 2, column "},
		{name: "a key that does not exist", config: "api_ulr = 'x'", want: `there is no setting "api_ulr": did you mean api_`},
		{name: "a setting with a letter missing", config: "pol_share = 0.3", want: `there is no setting "pol_share": did you mean poll_share?`},
		{name: "a key that does not exist in a profile", config: "[profile.live]\nkey = 'x'", want: `there is no setting "profile.live.key"`},
		{name: "a profile that does not exist", config: "[profile.live]\ntheme = 'dark'", args: []string{"--profile", "prod"}, want: `has no profile "prod"; it has: live`},
		{name: "a value of the wrong kind", config: "poll_share = 'much'", want: "poll_share must be a number"},
		{name: "a whole number that is none", env: map[string]string{"TILLWATCH_DAY_LIMIT": "many"}, want: "day_limit must be a whole number"},
		{name: "neither true nor false", config: "allow_confirm = 'perhaps'", want: "allow_confirm must be true or false"},
		{name: "a secret that is a list", config: "api_key = ['a']", want: "api_key must be a text in quotes"},
		{name: "keys that are no table", config: "keys = 3", want: "keys must be a table, as in [keys]"},
		{name: "a share above one", args: []string{"--poll-share", "1.5"}, want: "poll_share is 1.5"},
		{name: "no share at all", args: []string{"--poll-share", "0"}, want: "poll_share is 0"},
		{name: "polling without a pause", args: []string{"--poll-every", "10ms"}, want: "poll_every is 10ms"},
		{name: "a confirm window of nothing", args: []string{"--confirm-window", "0s"}, want: "confirm_window"},
		{name: "a confirm body that is not JSON", config: "confirm_body = '{'", want: "confirm_body is not JSON"},
		{name: "a threshold that does not exist", config: "[alerts]\nstuck = '5m'", want: `there is no setting "alerts.stuck"`},
		{name: "a threshold that does not exist in a profile", config: "[profile.live.alerts]\nstuck = '5m'", want: `there is no setting "profile.live.alerts.stuck"`},
		{name: "thresholds that are no table", config: "alerts = 5", want: `there is no setting "alerts"`},
		{name: "a threshold without its unit", config: "[alerts]\nstuck_after = 5", want: `alerts.stuck_after is 5ns; it must be a second or more, with its unit as in "5m", or 0 for never`},
		{name: "a threshold that is no time", config: "[alerts]\nexpiring_within = 'soon'", want: "alerts.expiring_within must be a time, such as 90s or 45m"},
		{name: "a threshold below zero", env: map[string]string{"TILLWATCH_ALERTS_DAY_LEFT": "-3"}, want: "alerts.day_left is -3"},
		{name: "a factor that would always hold", config: "[alerts]\nstuck_factor = 0.5", want: "alerts.stuck_factor is 0.5"},
		{name: "a secret's file that is not there", env: map[string]string{"TILLWATCH_API_KEY_FILE": filepath.Join(dir, "none")}, want: "api_key_file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			args := c.args
			if c.config != "" {
				args = append(args, "--config", writeConfig(t, c.config))
			}
			_, err := load(t, args...)
			if err == nil {
				t.Fatal("accepted")
			}
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitUsage {
				t.Errorf("%v does not end with exit code %d", err, exitUsage)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
}

func TestAnAccountNeedsAnAddressAKeyAndItsRelaysToken(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_URL", "")
	for _, step := range []struct{ name, value, want string }{
		{"TILLWATCH_UNUSED", "1", "no service is configured"},
		{"TILLWATCH_API_URL", "https://api.example", "no API key is configured"},
		{"TILLWATCH_API_KEY", "sk-1234", ""},
		{"TILLWATCH_RELAY_URL", "https://relay.example", "without its token"},
		{"TILLWATCH_RELAY_TOKEN", "token", ""},
	} {
		t.Setenv(step.name, step.value)
		s, err := load(t)
		if err != nil {
			t.Fatal(err)
		}
		err = s.requireAccount()
		if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("with %s set: %v, want %q", step.name, err, step.want)
		}
	}
}

func TestThresholdsOfAlertsComeFromFileProfileAndEnvironment(t *testing.T) {
	isolate(t)
	path := writeConfig(t, `
[alerts]
stuck_after = "90s"
day_left = 9
quota_within = 0

[profile.live.alerts]
day_left = 12

[profile.calm.alerts]
`)
	t.Setenv("TILLWATCH_ALERTS_AWAITING_AFTER", "7m")
	s, err := load(t, "--config", path, "--profile", "live")
	if err != nil {
		t.Fatal(err)
	}
	got := s.Alerts.config()
	if got.StuckAfter != 90*time.Second || got.DayLeft != 12 || got.AwaitingAfter != 7*time.Minute || got.QuotaWithin != -1 || got.ExpiringWithin != 10*time.Minute {
		t.Errorf("thresholds %+v", got)
	}
	if _, err := load(t, "--config", path, "--profile", "calm"); err != nil {
		t.Errorf("a table without thresholds is refused: %v", err)
	}
}

func TestAccountsDoNotShareAPictureUnlessTheProfilesKeyWasRotated(t *testing.T) {
	isolate(t)
	name := func(config, key string, args ...string) string {
		t.Helper()
		t.Setenv("TILLWATCH_API_KEY", key)
		if key == "" {
			os.Unsetenv("TILLWATCH_API_KEY")
		}
		s, err := load(t, append(args, "--config", writeConfig(t, "api_url = 'https://api.example'\n"+config))...)
		if err != nil {
			t.Fatal(err)
		}
		if key := s.APIKey.Reveal(); key != "" && strings.Contains(s.pictureName("live"), key) {
			t.Errorf("the name %q holds the key", s.pictureName("live"))
		}
		return s.pictureName("live")
	}
	const profiles = "[profile.shop]\napi_key = 'old-key-of-the-shop'\n[profile.other]\napi_key = 'old-key-of-the-shop'\n"
	rotated := strings.Replace(profiles, "old", "new", 1)
	if first, other, again := name("", "one-key"), name("", "another-key"), name("", "one-key"); first == other || first != again {
		t.Error("keys without a profile: two share a picture, or one loses its own")
	}
	if name(profiles, "", "--profile", "shop") != name(rotated, "", "--profile", "shop") {
		t.Error("a profile whose key was rotated has lost its picture")
	}
	if name(profiles, "", "--profile", "shop") == name(profiles, "", "--profile", "other") {
		t.Error("two profiles share a picture")
	}
	if name(profiles, "one-key", "--profile", "shop") == name(profiles, "another-key", "--profile", "shop") {
		t.Error("keys that override that of a profile share a picture")
	}
}
