package config

import (
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

	"tillwatch/api/account"
)

// isolate hides the configuration of whoever runs the tests and returns a folder.
func isolate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("HOME", dir)
	return dir
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a configuration file with this content, unless it is "", with variables and arguments.
func load(t *testing.T, content string, environ []string, args ...string) (Settings, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags, "api_url", "relay_url", "poll_share", "poll_every", "confirm_window", "allow_confirm", "watch_id", "signing_secret_file")
	if content != "" {
		args = append(args, "--config", writeFile(t, filepath.Join(t.TempDir(), "tillwatch.toml"), content))
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags, environ)
}

func mustLoad(t *testing.T, content string, environ []string, args ...string) Settings {
	t.Helper()
	s, err := load(t, content, environ, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFlagsWinOverEnvironmentOverProfileOverFileOverDefaults(t *testing.T) {
	isolate(t)
	const content = `
api_url = "https://file.example"
relay_url = "https://file-relay.example"
poll_share = 0.1
confirm_window = "30m"
theme = "light"
[alerts]
stuck_after = "90s"
day_left = 9
quota_within = 0

[profile.staging]
relay_url = "https://profile-relay.example"
poll_share = 0.2
[profile.staging.alerts]
day_left = 12
[profile."a.b".alerts]
`
	environ := []string{"TILLWATCH_POLL_SHARE=0.5", "TILLWATCH_THEME=dark", "TILLWATCH_ALERTS_AWAITING_AFTER=7m", "TILLWATCH_PROFILE=staging"}
	s := mustLoad(t, content, environ, "--poll-share", "0.9", "--watch-id", "ci_1,ci_2")
	for name, pair := range map[string][2]any{
		"a setting of the file":       {s.APIURL, "https://file.example"},
		"a setting of the profile":    {s.RelayURL, "https://profile-relay.example"},
		"a flag":                      {s.PollShare, 0.9},
		"a variable":                  {s.Theme, "dark"},
		"a time of the file":          {s.ConfirmWindow, 30 * time.Minute},
		"a default":                   {s.HeaderPrefix, "x-svc-"},
		"ids of a flag":               {strings.Join(s.WatchIDs, " "), "ci_1 ci_2"},
		"a threshold of the file":     {s.Alerts.StuckAfter, 90 * time.Second},
		"a threshold of the profile":  {s.Alerts.DayLeft, 12},
		"a threshold of a variable":   {s.Alerts.AwaitingAfter, 7 * time.Minute},
		"a threshold that is off":     {s.Alerts.QuotaWithin, time.Duration(0)},
		"a threshold by default":      {s.Alerts.ExpiringWithin, account.DefaultAlerts().ExpiringWithin},
		"the profile that was chosen": {s.Chosen, "staging"},
		"the profiles that there are": {strings.Join(s.Profiles, " "), "a.b staging"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if s := mustLoad(t, content, nil, "--profile", "a.b"); s.PollShare != 0.1 || s.Alerts.DayLeft != 9 {
		t.Errorf("a profile with an empty table and a dot in its name: %+v", s)
	}
	if s := mustLoad(t, "\ufefftheme = \"light\"\r\n", nil); s.Theme != "light" {
		t.Errorf("a file that begins with a byte order mark gives the theme %q", s.Theme)
	}
}

func TestSecretsComeFromFilesAndAreNeverPrinted(t *testing.T) {
	path := writeFile(t, filepath.Join(isolate(t), "key"), "sk-from-file\n")
	fromFile, given := "TILLWATCH_API_KEY_FILE="+path, "TILLWATCH_API_KEY=sk-given"
	for _, c := range []struct {
		name, content string
		environ, args []string
		key, file     string
	}{
		{"a file", "", []string{fromFile}, nil, "sk-from-file", path},
		{"a key beside its file", "", []string{fromFile, given}, nil, "sk-given", ""},
		{"a file of the environment over a key", "api_key = 'sk-hush'", []string{fromFile}, nil, "sk-from-file", path},
		{"a key of the environment over a file", "api_key_file = '/nowhere'", []string{given}, nil, "sk-given", ""},
		{"a key of a profile over a file", "api_key_file = '/nowhere'\n[profile.x]\napi_key = 'sk-x'", nil, []string{"--profile", "x"}, "sk-x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLoad(t, c.content, c.environ, c.args...)
			if s.APIKey.Reveal() != c.key || s.KeyFile() != c.file {
				t.Errorf("the key is %q, of the file %q", s.APIKey.Reveal(), s.KeyFile())
			}
		})
	}
	s := mustLoad(t, "", []string{fromFile, "TILLWATCH_SIGNING_SECRET=hush-one\nhush-two\n"})
	if printed := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(printed, "sk-from-") || strings.Contains(printed, "hush") {
		t.Errorf("printing the settings reveals a secret: %s", printed)
	}
	if all := s.SigningSecrets(); len(all) != 2 || all[0].Reveal() != "hush-one" || all[1].Reveal() != "hush-two" {
		t.Errorf("%d signing secrets", len(all))
	}
	s = mustLoad(t, "", []string{"TILLWATCH_SIGNING_SECRET=hush-hush"}, "--signing-secret-file", path)
	if s.SigningSecret.Reveal() != "sk-from-file" {
		t.Error("a flag with the file of a secret does not win over a variable with the secret")
	}
}

// TestBadSettingsAreOneClearSentence holds that the sentence names the setting, its value and what would be right, and
// no secret.
func TestBadSettingsAreOneClearSentence(t *testing.T) {
	dir := isolate(t)
	const aWindow = "it must be a time from a second to 30 days, such as 45m"
	for name, c := range map[string]struct {
		content   string
		env, args string
		want      string
	}{
		"a file that is not there":             {args: "--config=" + filepath.Join(dir, "none.toml"), want: "does not exist"},
		"a file that is not TOML":              {content: "theme = 'dark'\napi_url = ", want: "tillwatch.toml, line 2, column "},
		"a key that does not exist":            {content: "api_ulr = 'x'", want: `there is no setting "api_ulr": did you mean api_url?`},
		"a key like no other":                  {content: "zzzz = 'x'", want: `there is no setting "zzzz", nor one like it`},
		"a key in another case":                {content: "Theme = 'x'", want: `there is no setting "Theme": did you mean theme?`},
		"a key of a profile that is not used":  {content: "[profile.live]\nkey = 'x'", want: `there is no setting "profile.live.key"`},
		"a profile that does not exist":        {content: "[profile.live]", args: "--profile=prod", want: `has no profile "prod"; it has: live`},
		"a profile without a file":             {args: "--profile=prod", want: "does not exist"},
		"a profile that is a number":           {content: "profile = 3", want: "profile is 3; it must be a table"},
		"a profile without a name":             {content: "[profile]\nx = 3", want: "profile[x] is 3; it must be a table"},
		"a usual profile that is a number":     {content: "default_profile = 3", want: "default_profile is 3; it must be a text in quotes"},
		"a text for a number":                  {content: "poll_share = 'much'", want: `poll_share is "much"; it must be a number above 0`},
		"true for a number":                    {content: "poll_share = true", want: "poll_share is true; it must be a number above 0"},
		"no number":                            {content: "poll_share = nan", want: "poll_share is NaN; it must be a number above 0 and at most 1"},
		"a share above one":                    {args: "--poll-share=1.5", want: "poll_share is 1.5"},
		"a whole number that is none":          {env: "TILLWATCH_DAY_LIMIT=many", want: `day_limit is "many"; it must be the number of intents`},
		"a fraction of an intent":              {content: "day_limit = 2.7", want: "day_limit is 2.7; it must be the number of intents"},
		"fewer than none":                      {env: "TILLWATCH_AGENTS_LIMIT=-1", want: "agents_limit is -1; it must be the number of orders that may be placed at a time, 1 or more"},
		"more than there can be":               {content: "agents_limit = 99999999999999", want: "agents_limit is 99999999999999; it must be"},
		"neither true nor false":               {content: "allow_confirm = 'perhaps'", want: `allow_confirm is "perhaps"; it must be true or false`},
		"armed by a number":                    {content: "allow_confirm = 1", want: "allow_confirm is 1; it must be true or false"},
		"a number for a text":                  {content: "theme = 5", want: "theme is 5; it must be a text in quotes"},
		"a list for a text":                    {content: "theme = ['a', 'b', 1, 2, 3, 4]", want: `theme is ["a", "b", 1, 2, 3, 4]; it must be a text in quotes`},
		"a list for a secret":                  {content: "api_key = ['hush']", want: "api_key must be a text in quotes"},
		"numbers for ids":                      {content: "watch_id = [1, 2]", want: `watch_id is [1, 2]; it must be a list of texts, such as ["a", "b"]`},
		"a number without its unit":            {content: "confirm_window = 45", want: "confirm_window is 45; " + aWindow},
		"a text without its unit":              {env: "TILLWATCH_CONFIRM_WINDOW=45", want: `confirm_window is "45"; ` + aWindow},
		"true for a time":                      {content: "confirm_window = true", want: "confirm_window is true; " + aWindow},
		"a time below zero":                    {content: "confirm_window = '-3m'", want: "confirm_window is -3m0s; " + aWindow},
		"a time of nothing":                    {args: "--confirm-window=0s", want: "confirm_window is 0s"},
		"a time of a year":                     {content: "poll_every = '9000h'", want: "poll_every is 9000h0m0s; it must be a time from a second to a day"},
		"a body that is not JSON":              {content: "confirm_body = '{hush'", want: "confirm_body must be a JSON object, as in"},
		"a body that is a list":                {content: "confirm_body = '[\"hush\"]'", want: "confirm_body must be a JSON object, as in"},
		"a way to notify that there is not":    {content: "notify = 'loud'", want: `notify is "loud"; it must be one of auto, `},
		"no folder":                            {content: "state_dir = ''", want: `state_dir is ""; it must be a folder`},
		"a folder that is a file":              {content: "state_dir = '" + os.Args[0] + "'", want: "it must be a folder"},
		"a proxy for everyone":                 {content: "proxy_listen = '0.0.0.0:1'", want: `proxy_listen is "0.0.0.0:1"; it must be an address of this machine`},
		"an address without its scheme":        {content: "api_url = 'api.example'", want: `api_url is "api.example": must begin with https:// or http://`},
		"an address with a password":           {content: "api_url = 'https://me:hush@api.example'", want: "api_url: must not hold a user name or password"},
		"a relay of another kind":              {content: "relay_url = 'ftp://relay.example'", want: `relay_url is "ftp://relay.example": the relay's URL begins with http`},
		"a key in two lines":                   {content: "api_key = \"\"\"sk-hush\nhush\"\"\"", want: "api_key holds a space, a line break or another character that no key has"},
		"a short token":                        {content: "relay_token = 'hush-hush'", want: "relay_token (TILLWATCH_RELAY_TOKEN) has 9 bytes"},
		"a prefix with a space":                {content: "header_prefix = 'x svc'", want: `header_prefix is "x svc"; it must be of letters, digits and hyphens, as in x-svc-`},
		"a path without its slash":             {content: "lookup_path = 'products'", want: `lookup_path is "products"; it must be a path that begins with /`},
		"keys that are no table":               {content: "keys = 3", want: "keys is 3; it must be a table"},
		"a key of an action that is none":      {content: "[keys]\nzoom = 7.5", want: `keys[zoom] is 7.5; it must be a list of texts, such as ["a", "b"]`},
		"keys that are lists of lists":         {content: "[keys]\nzoom = [['z']]", want: `keys[zoom] is [["z"]]; it must be a list of texts, such as ["a", "b"]`},
		"a fraction of a threshold":            {content: "[alerts]\nday_left = 2.5", want: "alerts.day_left is 2.5; it must be a number of intents"},
		"a threshold that does not exist":      {content: "[alerts]\nstuck = '5m'", want: `there is no setting "alerts.stuck"`},
		"a threshold that is not in a profile": {content: "[profile.live.alerts]\nstuck = '5m'", want: `there is no setting "profile.live.alerts.stuck"`},
		"thresholds that are no table":         {content: "alerts = 5", want: "alerts is 5; it must be a table"},
		"a threshold without its unit":         {content: "[alerts]\nstuck_after = 5", want: "alerts.stuck_after is 5; it must be a time of a second or more, such as 5m"},
		"a threshold below zero":               {env: "TILLWATCH_ALERTS_DAY_LEFT=-3", want: "alerts.day_left is -3"},
		"a span below a second":                {content: "[alerts]\nstuck_after = '5ms'", want: `alerts.stuck_after is 5ms; it must be a time of a second or more`},
		"a factor that would always hold":      {content: "[alerts]\nstuck_factor = 0.5", want: "alerts.stuck_factor is 0.5"},
		"a program as a text":                  {content: "alert_command = 'notify hush'", want: `alert_command must be a program and its arguments, such as ["notify-alert", "--to", "till"]`},
		"a program without a name":             {content: "alert_command = ['']", want: "alert_command must be a program and its arguments"},
		"commands that are no tables":          {content: "command = 3", want: "command must be tables, as in [[command]]"},
		"a command that is a number":           {content: "command = [3]", want: "command[0] must be a table"},
		"a command with a wrong setting":       {content: "[[command]]\nprogramm = 'x'", want: `there is no setting "command[0].programm": did you mean command[0].program?`},
		"a command with a text for a list":     {content: "[[command]]\n[[command]]\nlive = 'hush'", want: "command[1].live must be true or false"},
		"a secret's file that is not there":    {env: "TILLWATCH_API_KEY_FILE=" + filepath.Join(dir, "none"), want: "reading the file that api_key_file names: "},
		"a secret for its file":                {env: "TILLWATCH_API_KEY_FILE=hush", want: "give the name of a file that holds the secret, not the secret itself"},
		"a folder for a file":                  {args: "--config=" + dir, want: "reading the configuration file " + dir + ": read "},
		"a variable for tables":                {env: "TILLWATCH_KEYS=hush", want: "TILLWATCH_KEYS is set, but there is no such setting"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.content, strings.Fields(c.env), strings.Fields(c.args)...)
			if err == nil {
				t.Fatal("accepted")
			}
			if !errors.As(err, new(*Error)) || strings.Contains(err.Error(), "hush-") || strings.Contains(err.Error(), "hush") {
				t.Errorf("%q reveals a secret, or is no mistake in the settings", err)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
}

func TestSeveralBadSettingsAreALineEach(t *testing.T) {
	isolate(t)
	for content, want := range map[string][]string{
		"confirm_window = '0s'\nday_limit = -4\n[alerts]\nday_left = -1\n": {"confirm_window is 0s", "day_limit is -4", "alerts.day_left is -1"},
		"confirm_window = 5\nday_limit = 'x'\n":                            {"confirm_window is 5", `day_limit is "x"`},
	} {
		_, err := load(t, content, nil)
		lines := strings.Split(fmt.Sprint(err), "\n")
		if !slices.EqualFunc(lines, want, strings.HasPrefix) {
			t.Errorf("got\n%v\nwant lines that begin with %q", err, want)
		}
	}
}

func TestVariablesThatNobodyReadsAreRefusedWithTheNearest(t *testing.T) {
	isolate(t)
	_, err := load(t, "", []string{
		"TILLWATCH_APIURL=https://hush", "TILLWATCH_API_KEY_FLIE=hush", "TILLWATCH_RELAY_TOKENS=hush", "TILLWATCH_XYZZY=1",
		"TILLWATCH_ALERTS_STUCK=5m", "TILLWATCH_API_URL=https://api.example", "TILLWATCH_TEST_POSTGRES=x", "HOME=/", "OTHER_TILLWATCH_X=1",
		"TILLWATCH_SERVICE_HOST=10.0.0.1", "TILLWATCH_PORT=tcp://10.0.0.1:80", "TILLWATCH_RELAY_PORT_7430_TCP_ADDR=10.0.0.1", "TILLWATCH_RELAY_SERVICE_PORT_HTTP=80",
	})
	want := []string{
		"TILLWATCH_ALERTS_STUCK is set, but there is no such setting: did you mean TILLWATCH_ALERTS_STUCK_AFTER?",
		"TILLWATCH_APIURL is set, but there is no such setting: did you mean TILLWATCH_API_URL?",
		"TILLWATCH_API_KEY_FLIE is set, but there is no such setting: did you mean TILLWATCH_API_KEY_FILE?",
		"TILLWATCH_RELAY_TOKENS is set, but there is no such setting: did you mean TILLWATCH_RELAY_TOKEN?",
		"TILLWATCH_XYZZY is set, but there is no such setting",
	}
	if got := strings.Split(fmt.Sprint(err), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTablesAreRead(t *testing.T) {
	isolate(t)
	const content = `
alert_command = ["a", "b,c"]
[keys]
zoom = "Z"
copy-id = ["f6", "ctrl+y"]
next-theme = []
[[command]]
name = "Note"
program = "note"
args = ["--order={order}", "a,b"]
confirm = false
[profile.phone]
alert_command = []
[profile.phone.keys]
zoom = "f5"
`
	s := mustLoad(t, content, nil)
	if !slices.Equal(s.AlertCommand, []string{"a", "b,c"}) || len(s.Keys) != 3 || !slices.Equal(s.Keys["zoom"], []string{"Z"}) ||
		!slices.Equal(s.Keys["copy-id"], []string{"f6", "ctrl+y"}) || len(s.Commands) != 1 {
		t.Errorf("read as %+v", s)
	}
	if c := s.Commands[0]; c.Name != "Note" || !slices.Equal(c.Args, []string{"--order={order}", "a,b"}) || *c.Confirm || c.Live {
		t.Errorf("the command is %+v", c)
	}
	if s := mustLoad(t, content, nil, "--profile", "phone"); len(s.AlertCommand) != 0 || !slices.Equal(s.Keys["zoom"], []string{"f5"}) || len(s.Keys) != 3 {
		t.Errorf("the profile is %+v", s)
	}
}

func TestAnAccountNeedsAnAddressAKeyAndItsRelaysToken(t *testing.T) {
	isolate(t)
	environ := []string{}
	for _, step := range []struct{ pair, want string }{
		{"HOME=/", "no service is configured"},
		{"TILLWATCH_API_URL=https://api.example", "no API key is configured"},
		{"TILLWATCH_API_KEY=sk-1234", ""},
		{"TILLWATCH_RELAY_URL=https://relay.example", "without its token"},
		{"TILLWATCH_RELAY_TOKEN=a-token-of-the-relay", ""},
	} {
		environ = append(environ, step.pair)
		if err := mustLoad(t, "", environ).RequireAccount(); (err == nil) != (step.want == "") || !strings.Contains(fmt.Sprint(err), step.want) && err != nil {
			t.Errorf("with %s: %v, want %q", step.pair, err, step.want)
		}
	}
}

func TestChildProgramsGetNoSecrets(t *testing.T) {
	isolate(t)
	s := mustLoad(t, "api_key = 'key-01'\nrelay_token = 'a-token-of-the-relay'", nil)
	got := s.Environ([]string{"TILLWATCH_API_KEY=x", "HEADER=Bearer key-01", "TOKEN=a-token-of-the-relay", "HARMLESS=yes"})
	if !slices.Equal(got, []string{"HARMLESS=yes"}) {
		t.Errorf("a program gets %q", got)
	}
	if got := s.Redact("refused: key-01"); strings.Contains(got, "key-01") {
		t.Errorf("redacted to %q", got)
	}
}

func TestAFileWithoutItsSecretIsRefused(t *testing.T) {
	for _, key := range secretKeys() {
		for name, content := range map[string]string{"empty": "", "a line break": "\n", "blanks": "  \r\n\n"} {
			t.Run(key+", "+name, func(t *testing.T) {
				path := writeFile(t, filepath.Join(isolate(t), "secret"), content)
				_, err := load(t, "", []string{"TILLWATCH_" + strings.ToUpper(key) + "_FILE=" + path})
				if err == nil || !strings.Contains(err.Error(), key+"_file names: "+path+" holds no secret") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// Whoever gives the secret where its file belongs does not find it in a log.
func TestASecretThatStandsForItsFileIsNotRepeated(t *testing.T) {
	isolate(t)
	missing := filepath.Join(t.TempDir(), "none")
	for _, secret := range []string{
		"sk_live_0123456789abcdef", "whsec_MfKQ9r/8GabcdefghijK", "k3J9/dQw8Zp+LmN2vXy5RtUa7BcEfGh0IjKl1OpQrSs=",
		strings.Repeat("a-long-secret", 100),
	} {
		_, err := load(t, "", []string{"TILLWATCH_API_KEY_FILE=" + secret, "TILLWATCH_RELAY_TOKEN_FILE=" + missing, "TILLWATCH_DAY_LIMIT=x"})
		text := fmt.Sprint(err)
		if strings.Contains(text, secret) || !strings.Contains(text, "not the secret itself") {
			t.Errorf("it says %s", text)
		}
		if !strings.Contains(text, missing) || !strings.Contains(text, "day_limit is") { // several mistakes take one look
			t.Errorf("it hides another mistake: %s", text)
		}
	}
}

func TestAFileOfSettingsIsReadToAnEnd(t *testing.T) {
	large := writeFile(t, filepath.Join(t.TempDir(), "large"), "")
	if err := os.Truncate(large, 2<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(large); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("2 GB: %v", err)
	}
}

// Some services run without HOME. What a relay has acknowledged must survive a restart of the machine, and nobody else
// may write the configuration.
func TestWithoutHOMEFilesAreInTheUsersHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		t.Skip("this user has no home")
	}
	for _, dir := range []string{StateDir(), Dir()} {
		if !strings.HasPrefix(dir, u.HomeDir+string(filepath.Separator)) {
			t.Errorf("%s is outside %s", dir, u.HomeDir)
		}
	}
}
