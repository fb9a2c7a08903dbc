package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/notify"
)

// settings are the values from flags, environment, configuration file and defaults,
// in this order of precedence. Secrets never come from flags: other users of a
// machine can read a command line.
type settings struct {
	APIURL           string
	APIKey           api.Secret
	RelayURL         string
	RelayToken       api.Secret
	SigningSecret    api.Secret
	Postgres         api.Secret
	HeaderPrefix     string
	LookupPath       string
	SpenderHeader    string
	ProxyListen      string
	ConfirmBody      string
	ConfirmWindow    time.Duration
	PollShare        float64
	PollEvery        time.Duration
	AllowConfirm     bool
	DayLimit         int
	AgentsLimit      int
	KeepIntents      int
	WatchIDs         []string
	WatchList        string
	Alerts           account.AlertConfig
	AlertCommand     programLine
	AlertCommandLive bool
	IdleAfter        time.Duration
	Theme            string
	Filter           string
	Notify           string
	NoOpen           bool
	StateDir         string
	InsecureHTTP     bool
	Keys             keyBindings
	Commands         commandList

	// KeyProfile is the chosen profile if it names the API key itself, else "".
	KeyProfile string
	// Chosen is the chosen profile; "" for none.
	Chosen string
	// Profiles are the configuration file's profiles.
	Profiles []string
	// SecretFiles are the files that the secrets were read from, by setting.
	SecretFiles map[string]string
	// LastingDir takes the files that the user keeps if StateDir is deleted after this run;
	// "" if it is not.
	LastingDir string
	// Sources says where each given setting comes from; the last one counts.
	Sources sources
	// WatchOrder: only what may belong to the order of this reference is read; "": all.
	WatchOrder api.Text

	// OwnStandIn: the service is a stand-in in this process.
	OwnStandIn bool
}

// leastRedacted is the shortest secret, in bytes, that is searched for in other text: a
// shorter one would match ordinary words.
const leastRedacted = 6

// secrets are the keys and tokens of the settings, some perhaps unset.
func (s settings) secrets() []api.Secret {
	return []api.Secret{s.APIKey, s.RelayToken, s.SigningSecret, s.Postgres}
}

// keyFile is the file of the API key; "" if the key was given directly.
func (s settings) keyFile() string { return s.SecretFiles["api_key"] }

// host is the service's host and port, which names the account for people.
func (s settings) host() string {
	if u, err := url.Parse(s.APIURL); err == nil {
		return u.Host
	}
	return ""
}

func defaults() settings {
	return settings{
		HeaderPrefix:  "x-svc-",
		LookupPath:    quota.DefaultLookupPath,
		ConfirmWindow: api.ConfirmWindow,
		PollShare:     0.3,
		PollEvery:     30 * time.Second,
		DayLimit:      50,
		AgentsLimit:   10,
		KeepIntents:   10_000,
		Alerts:        account.DefaultAlerts(),
		Theme:         themeAuto,
		Notify:        string(notify.Auto),
		StateDir:      stateDir(),
		IdleAfter:     5 * time.Minute,
	}
}

// withAddressHint adds to the error of an unusable address how to use it all the same, if
// possible.
func withAddressHint(err error) error {
	var readable *api.ClearTextError
	if errors.As(err, &readable) {
		err = fmt.Errorf("%w, or allow it with --insecure-http", err)
	}
	return usage(err)
}

// accountFlags adds the flags of every command that looks at an account, and those of more settings.
func accountFlags(flags *pflag.FlagSet, more ...string) {
	sourceFlags(flags, "api_url", "relay_url", "insecure_http", "watch_id", "watch_ids", "poll_share", "poll_every", "confirm_window", "keep_intents", "state_dir")
	settingFlags(flags, more...)
}

// sourceFlags adds the flags that say where the settings come from, and those of these settings.
func sourceFlags(flags *pflag.FlagSet, keys ...string) {
	flags.String("config", "", "configuration file (default tillwatch.toml in the user's configuration folder)")
	flags.String("profile", "", "profile of the configuration file to use")
	settingFlags(flags, keys...)
}

// loadSettings merges all sources.
func loadSettings(flags *pflag.FlagSet) (settings, error) {
	from := sources{}
	values, chosen, all, err := loadFile(flags, "", from)
	if err != nil {
		return settings{}, explainable(err)
	}
	ofFile := maps.Clone(values)
	values.readVariables(from)
	values.readFlags(flags, from)
	s := defaults()
	s.Sources, s.Chosen, s.Profiles = from, chosen, all
	if source := ofFile.keySource(); source != "" && source == values.keySource() {
		s.KeyProfile = chosen
	}
	var unread error
	s.SecretFiles, unread = values.readSecretFiles()
	if err = s.assign(values); err == nil {
		err = s.check()
	}
	return s, explainable(joinErrors(unread, err))
}

// loadFile reads the configuration file: its top level, then over it the named
// profile, or else the one that the flags choose. It returns that profile's name and
// all names, and records the sources. The file may be absent unless it was named.
func loadFile(flags *pflag.FlagSet, profile string, from sources) (values given, chosen string, all []string, err error) {
	flagOr := func(flag, variable string) string {
		text, _ := flags.GetString(flag)
		return cmp.Or(text, os.Getenv(variable))
	}
	path := flagOr("config", "TILLWATCH_CONFIG")
	profile = cmp.Or(profile, flagOr("profile", "TILLWATCH_PROFILE"))
	named := path != ""
	if !named {
		path = filepath.Join(configDir(), "tillwatch.toml")
	}
	var content map[string]any
	text, err := readGiven(path, api.FileText)
	if err == nil {
		err = toml.Unmarshal(text, &content)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named && profile == "":
		return given{}, "", nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil, usagef("the configuration file %s does not exist", path)
	case err != nil:
		return nil, "", nil, usage(withPosition(path, err))
	}
	profiles, usual, err := splitProfiles(content)
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", path, err)
	}
	profile, all = cmp.Or(profile, usual), slices.Sorted(maps.Keys(profiles))
	values = flattened(content)
	if err := values.checkKeys(path, "", "default_profile"); err != nil {
		return nil, "", nil, err
	}
	for _, name := range all {
		if err := profiles[name].checkKeys(path, "profile."+name+"."); err != nil {
			return nil, "", nil, err
		}
	}
	own, ok := profiles[profile]
	if profile != "" && !ok {
		return nil, "", nil, usagef("%s has no profile %q; it has: %s", path, profile, orNone(all))
	}
	from.noteAll(values, path)
	from.noteAll(own, "profile "+profile+" of "+path)
	maps.Copy(values, own)
	return values, profile, all, nil
}

// splitProfiles removes the profiles from a configuration file's content and returns
// them with the name of the default one. It refuses those that are not tables.
func splitProfiles(content map[string]any) (profiles map[string]given, usual string, err error) {
	const must = "a table, as in [profile.staging]"
	if value := content["default_profile"]; value != nil {
		var ok bool
		if usual, ok = value.(string); !ok {
			return nil, "", invalidValue("default_profile", value, "the name of a profile in quotes")
		}
	}
	value := content["profile"]
	tables, ok := value.(map[string]any)
	if value != nil && !ok {
		return nil, "", invalidValue("profile", value, must)
	}
	profiles = map[string]given{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, ok := tables[name].(map[string]any)
		if !ok {
			return nil, "", invalidValue("profile."+name, tables[name], must)
		}
		profiles[name] = flattened(table)
	}
	delete(content, "profile")
	delete(content, "default_profile")
	return profiles, usual, nil
}

// requireService refuses settings that name no account at a service.
func (s settings) requireService() error {
	if s.APIURL == "" {
		return usagef("no service is configured: give --api-url or set TILLWATCH_API_URL (or try: tillwatch demo)")
	}
	if s.APIKey.IsZero() {
		return usagef("no API key is configured: set TILLWATCH_API_KEY or TILLWATCH_API_KEY_FILE")
	}
	return nil
}

// requireAccount refuses settings that name no account, or a relay without its token.
func (s settings) requireAccount() error {
	return cmp.Or(s.requireService(), s.requireToken())
}

// requireToken refuses a relay without its token.
func (s settings) requireToken() error {
	if s.RelayURL != "" && s.RelayToken.IsZero() {
		return usagef("a relay is configured without its token: set TILLWATCH_RELAY_TOKEN or TILLWATCH_RELAY_TOKEN_FILE")
	}
	return nil
}

// requireRelay refuses settings without a relay to read from.
func (s settings) requireRelay() error {
	if s.RelayURL == "" {
		return usagef("no relay is configured: give --relay-url or set TILLWATCH_RELAY_URL")
	}
	return s.requireToken()
}

// auditFile is the log of what was sent.
func (s settings) auditFile() string { return filepath.Join(s.StateDir, "confirms.jsonl") }

// requireFolder refuses a folder that is not there, for what only reads or changes it:
// it was mistyped, and must be neither made nor taken for empty. The usual state folder
// was not typed: it is empty until something is kept.
func requireFolder(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != stateDir() {
		return usagef("there is no folder %s: is it mistyped?", folder)
	}
	return nil
}

func configDir() string {
	if dir, err := os.UserConfigDir(); err == nil {
		return filepath.Join(dir, "tillwatch")
	}
	return filepath.Join(home(), ".config", "tillwatch")
}

// stateDir follows the XDG base directory specification, which the standard library
// does only for configuration and caches.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tillwatch")
	}
	return filepath.Join(home(), ".local", "state", "tillwatch")
}

// home is the user's home, also where HOME is not set, as for some services. A temporary
// folder, which a restart may empty, is the last resort.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	return os.TempDir()
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// withPosition adds the line to an error of the configuration file, if known.
func withPosition(path string, err error) error {
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return fmt.Errorf("%s, line %d, column %d: %s", path, line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("reading the configuration file %s: %w", path, err)
}

// configured runs a command with the settings from flags, environment and
// configuration file.
func configured(run func(c *cobra.Command, s settings, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		s, err := settingsOf(c)
		if err != nil {
			return err
		}
		return run(c, s, args)
	}
}

// settingsOf returns the settings of a command, unless it is interrupted first.
func settingsOf(c *cobra.Command) (settings, error) {
	return unlessInterrupted(c.Context(), func() (settings, error) {
		s, err := loadSettings(c.Flags())
		if err == nil {
			err = s.readSigningSecret(c.Flags())
		}
		return s, err
	})
}
