package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
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

func TestAConfigurationFileMayBeginWithAByteOrderMark(t *testing.T) {
	isolate(t)
	s, err := load(t, "--config", writeConfig(t, "\ufefftheme = \"light\"\r\n"))
	if err != nil || s.Theme != "light" {
		t.Errorf("the theme is %q: %v", s.Theme, err)
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
	if s.keyFile() != path {
		t.Errorf("the key's file is %q", s.keyFile())
	}
	if printed := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(printed, "sk-from") || strings.Contains(printed, "hush") {
		t.Errorf("printing the settings reveals a secret: %s", printed)
	}
	t.Setenv("TILLWATCH_API_KEY", "sk-given") // it wins, so nothing is read from the file later either
	if s, err := load(t); err != nil || s.keyFile() != "" {
		t.Errorf("beside a key that is given the key's file is %q (%v)", s.keyFile(), err)
	}
}

func TestBadSettingsAreOneClearSentence(t *testing.T) {
	dir := isolate(t)
	cases := []struct {
		name, config, want string
		env                map[string]string
		args               []string
	}{
		{name: "a configuration file that is not there", args: []string{"--config", filepath.Join(dir, "none.toml")}, want: "does not exist"},
		{name: "a file that is not TOML", config: "theme = 'dark'\napi_url = ", want: "tillwatch.toml, line 2, column "},
		{name: "a key that does not exist", config: "api_ulr = 'x'", want: `there is no setting "api_ulr": did you mean api_url?`},
		{name: "a key like no other", config: "zzzz = 'x'", want: `there is no setting "zzzz", nor one like it`},
		{name: "a setting with a letter missing", config: "pol_share = 0.3", want: `there is no setting "pol_share": did you mean poll_share?`},
		{name: "a key that does not exist in a profile", config: "[profile.live]\nkey = 'x'", want: `there is no setting "profile.live.key"`},
		{name: "a profile that does not exist", config: "[profile.live]\ntheme = 'dark'", args: []string{"--profile", "prod"}, want: `has no profile "prod"; it has: live`},
		{name: "a value of the wrong kind", config: "poll_share = 'much'", want: `poll_share is "much"; it must be a number`},
		{name: "a whole number that is none", env: map[string]string{"TILLWATCH_DAY_LIMIT": "many"}, want: `day_limit is "many"; it must be a whole number`},
		{name: "neither true nor false", config: "allow_confirm = 'perhaps'", want: `allow_confirm is "perhaps"; it must be true or false`},
		{name: "a secret that is a list", config: "api_key = ['a']", want: "api_key must be a text in quotes"},
		{name: "keys that are no table", config: "keys = 3", want: "keys is 3; it must be a table, as in [keys]"},
		{name: "a share above one", args: []string{"--poll-share", "1.5"}, want: "poll_share is 1.5"},
		{name: "no share at all", args: []string{"--poll-share", "0"}, want: "poll_share is 0"},
		{name: "polling without a pause", args: []string{"--poll-every", "10ms"}, want: "poll_every is 10ms"},
		{name: "a confirm window of nothing", args: []string{"--confirm-window", "0s"}, want: "confirm_window"},
		{name: "a confirm body that is not JSON", config: "confirm_body = '{'", want: "confirm_body must be a JSON object, as in"},
		{name: "a confirm body that is a list", config: "confirm_body = '[\"tok_secret\"]'", want: "confirm_body must be a JSON object, as in"},
		{name: "a confirm window without its unit", config: "confirm_window = 45", want: "confirm_window is 45; it must be a time with its unit, such as 90s or 45m"},
		{name: "a confirm window without its unit, as text", env: map[string]string{"TILLWATCH_CONFIRM_WINDOW": "45"}, want: `confirm_window is "45"; it must be a time with its unit`},
		{name: "a confirm window that is a fraction", config: "confirm_window = 45.5", want: "confirm_window is 45.5; it must be a time with its unit"},
		{name: "a confirm window that is true", config: "confirm_window = true", want: "confirm_window is true; it must be a time with its unit"},
		{name: "a confirm window below zero", config: "confirm_window = '-3m'", want: "confirm_window is -3m0s; it must be from a second to 30 days"},
		{name: "a confirm window of a year", config: "confirm_window = '9000h'", want: "confirm_window is 9000h0m0s; it must be from a second to 30 days"},
		{name: "polling once in a year", config: "poll_every = '9000h'", want: "poll_every is 9000h0m0s; it must be from a second to a day"},
		{name: "a day without intents", config: "day_limit = 0", want: "day_limit is 0; it must be the number of intents"},
		{name: "a day with fewer than none", config: "day_limit = -4", want: "day_limit is -4; it must be the number of intents that the account may make in a day, 1 or more"},
		{name: "a fraction of an intent", config: "day_limit = 2.7", want: "day_limit is 2.7; it must be a whole number"},
		{name: "a limit that is true", config: "day_limit = true", want: "day_limit is true; it must be a whole number"},
		{name: "no agent", env: map[string]string{"TILLWATCH_AGENTS_LIMIT": "-1"}, want: "agents_limit is -1; it must be the number of orders that may be placed at a time, 1 or more"},
		{name: "more agents than there can be", config: "agents_limit = 99999999999999", want: "agents_limit is 99999999999999; it must be"},
		{name: "a share that is no number", config: "poll_share = nan", want: "poll_share is NaN; it must be above 0 and at most 1"},
		{name: "a share that is true", config: "poll_share = true", want: "poll_share is true; it must be a number"},
		{name: "a theme that is a number", config: "theme = 5", want: "theme is 5; it must be a text in quotes"},
		{name: "armed by a number", config: "allow_confirm = 1", want: "allow_confirm is 1; it must be true or false"},
		{name: "ids that are numbers", config: "watch_id = [1, 2]", want: `watch_id is [1, 2]; it must be a list of texts, such as ["a", "b"]`},
		{name: "a list for a text", config: "theme = ['a', 'b', 1, 2, 3, 4]", want: `theme is ["a", "b", 1, 2, 3, …]; it must be a text in quotes`},
		{name: "a way to notify that there is not", config: "notify = 'loud'", want: `notify is "loud"; it must be one of auto, `},
		{name: "no folder", config: "state_dir = ''", want: `state_dir is ""; it must be a folder`},
		{name: "a folder that is a file", config: "state_dir = '" + os.Args[0] + "'", want: "it must be a folder"},
		{name: "an address without its scheme", config: "api_url = 'api.example'", want: `api_url is "api.example": must begin with https:// or http://`},
		{name: "an address with a password", config: "api_url = 'https://me:hush@api.example'", want: "api_url: must not hold a user name or password"},
		{name: "a relay of another kind", config: "relay_url = 'ftp://relay.example'", want: `relay_url is "ftp://relay.example": the relay's URL begins with http, https, ws or wss`},
		{name: "a key in two lines", config: "api_key = \"\"\"sk-hush\nhush\"\"\"", want: "api_key holds a space, a line break or another character that no key has: was it copied whole?"},
		{name: "a short token", config: "relay_token = 'hush-hush'", want: "relay_token (TILLWATCH_RELAY_TOKEN) has 9 bytes"},
		{name: "a token with a space", config: "relay_token = 'hush hush'", want: "relay_token holds a space"},
		{name: "a header prefix with a space", config: "header_prefix = 'x svc'", want: `header_prefix is "x svc"; it must be of letters, digits and hyphens, as in x-svc-`},
		{name: "a lookup path without its slash", config: "lookup_path = 'products'", want: `lookup_path is "products"; it must be a path that begins with /`},
		{name: "keys that are lists of lists", config: "[keys]\nzoom = [['z']]", want: `keys.zoom is [["z"]]; it must be a key such as "q", or a list of keys`},
		{name: "nothing that quits", config: "[keys]\nquit = 'ctrl+shift+hyper+z'", want: `keys: action "quit" is only on "ctrl+shift+hyper+z", which many terminals cannot send: add a key that all of them send, such as "q"`},
		{name: "a profile that is a number", config: "profile = 3", want: "profile is 3; it must be a table, as in [profile.staging]"},
		{name: "a profile without a name", config: "[profile]\nx = 3", want: "profile.x is 3; it must be a table"},
		{name: "a profile by default that is a number", config: "default_profile = 3", want: "default_profile is 3; it must be the name of a profile in quotes"},
		{name: "a fraction of a threshold", config: "[alerts]\nday_left = 2.5", want: "alerts.day_left is 2.5; it must be a whole number"},
		{name: "a threshold that does not exist", config: "[alerts]\nstuck = '5m'", want: `there is no setting "alerts.stuck"`},
		{name: "a threshold that does not exist in a profile", config: "[profile.live.alerts]\nstuck = '5m'", want: `there is no setting "profile.live.alerts.stuck"`},
		{name: "thresholds that are no table", config: "alerts = 5", want: `there is no setting "alerts"`},
		{name: "a threshold without its unit", config: "[alerts]\nstuck_after = 5", want: "alerts.stuck_after is 5; it must be a time with its unit, such as 90s or 45m"},
		{name: "a threshold that is no time", config: "[alerts]\nexpiring_within = 'soon'", want: `alerts.expiring_within is "soon"; it must be a time with its unit, such as 90s or 45m`},
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
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "tok_secret") {
				t.Errorf("%q reveals a secret", err)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
}

func TestSeveralBadSettingsAreALineEach(t *testing.T) {
	isolate(t)
	_, err := load(t, "--config", writeConfig(t, "confirm_window = '0s'\nday_limit = -4\n[alerts]\nday_left = -1\n"))
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitUsage {
		t.Fatalf("%v does not end with exit code %d", err, exitUsage)
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{"confirm_window is 0s", "day_limit is -4", "alerts.day_left is -1"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of %q is not of %s", i+1, err, want)
		}
	}
}

func TestVariablesThatNobodyReadsAreNamedWithTheNearest(t *testing.T) {
	got := unreadVariables([]string{
		"TILLWATCH_APIURL=https://hush", "TILLWATCH_API_KEY_FLIE=hush", "TILLWATCH_RELAY_TOKENS=hush", "TILLWATCH_CONFIRM=1", "TILLWATCH_XYZZY=1", "TILLWATCH_KEYS=q",
		"TILLWATCH_ALERTS_STUCK=5m", "TILLWATCH_API_URL=https://api.example", "TILLWATCH_ALERTS_DAY_LEFT=3", "TILLWATCH_PROFILE=x", "TILLWATCH_CONFIG=x", "TILLWATCH_TEST_POSTGRES=x",
		"HOME=/", "OTHER_TILLWATCH_X=1",
	})
	want := []string{
		"TILLWATCH_ALERTS_STUCK is set, but nothing reads it: did you mean TILLWATCH_ALERTS_STUCK_AFTER?",
		"TILLWATCH_APIURL is set, but nothing reads it: did you mean TILLWATCH_API_URL?",
		"TILLWATCH_API_KEY_FLIE is set, but nothing reads it: did you mean TILLWATCH_API_KEY_FILE?",
		"TILLWATCH_CONFIRM is set, but nothing reads it: did you mean TILLWATCH_CONFIG?",
		"TILLWATCH_KEYS is set, but nothing reads it: keys are set in tillwatch.toml, under [keys]",
		"TILLWATCH_RELAY_TOKENS is set, but nothing reads it: did you mean TILLWATCH_RELAY_TOKEN?",
		"TILLWATCH_XYZZY is set, but nothing reads it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestACommandNamesTheVariablesThatItDoesNotRead(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_APIURL", "https://api.example")
	var out, words bytes.Buffer
	run(t.Context(), []string{"themes"}, nil, &out, &words)
	if want := "tillwatch: TILLWATCH_APIURL is set, but nothing reads it: did you mean TILLWATCH_API_URL?\n"; words.String() != want {
		t.Errorf("it says %q, want %q", words.String(), want)
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
		{"TILLWATCH_RELAY_TOKEN", eventsToken, ""},
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
	got := s.Alerts
	if got.StuckAfter != 90*time.Second || got.DayLeft != 12 || got.AwaitingAfter != 7*time.Minute || got.QuotaWithin != 0 || got.ExpiringWithin != 10*time.Minute {
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
	file := filepath.Join(t.TempDir(), "key")
	fromFile := "api_key_file = '" + file + "'\n"
	writeFile(t, file, "old-key")
	before := name(fromFile, "")
	writeFile(t, file, "new-key")
	if name(fromFile, "") != before {
		t.Error("a key's file whose key was rotated has lost its picture")
	}
	if other := filepath.Join(t.TempDir(), "key"); os.Rename(file, other) == nil && name("api_key_file = '"+other+"'\n", "") == before {
		t.Error("two files of keys share a picture")
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

// Some services run without HOME. What a relay has acknowledged must survive a restart of
// the machine, and nobody else may write the configuration.
func TestWithoutHOMEFilesAreInTheUsersHome(t *testing.T) {
	isolate(t)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		t.Skip("this user has no home")
	}
	for _, dir := range []string{stateDir(), configDir(), relayDir()} {
		if !strings.HasPrefix(dir, u.HomeDir+string(filepath.Separator)) {
			t.Errorf("%s is outside %s", dir, u.HomeDir)
		}
	}
}
