package command

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	tomlfile "github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/attention"
	"tillwatch/ui/notify"
)

// settings are what flags, environment, configuration file and defaults say, in
// this order of precedence. Secrets never come from flags: other users of a
// machine can read a command line.
type settings struct {
	APIURL        string
	APIKey        api.Secret
	RelayURL      string
	RelayToken    api.Secret
	SigningSecret api.Secret
	Postgres      api.Secret
	HeaderPrefix  string
	LookupPath    string
	SpenderHeader string
	ProxyListen   string
	ConfirmBody   string
	ConfirmWindow time.Duration
	PollShare     float64
	PollEvery     time.Duration
	AllowConfirm  bool
	DayLimit      int
	AgentsLimit   int
	KeepIntents   int
	WatchIDs      []string
	WatchList     string
	Alerts        account.AlertConfig
	AlertWays     []attention.Way
	IdleAfter     time.Duration
	Theme         string
	Filter        string
	Notify        string
	NoOpen        bool
	StateDir      string
	InsecureHTTP  bool
	Keys          keyBindings
	Commands      commandList

	// Profile is the chosen profile where that names the key itself, else "".
	Profile string
	// Chosen is the chosen profile, "" for none.
	Chosen string
	// Profiles are the names of all profiles of the configuration file.
	Profiles []string
	// KeyFile is the file that the API key comes from, else "".
	KeyFile string
	// SecretFiles are the files that secrets are read from, by their setting.
	SecretFiles map[string]string
	// LastingDir takes the place of StateDir for what a person keeps, where StateDir
	// goes with this run; "": it does not.
	LastingDir string
	// Sources says of each setting that is given where it comes from, the one that
	// counts last.
	Sources sources
	// OwnStandIn: the service is a stand-in that this process runs.
	OwnStandIn bool
}

// secrets are the keys and tokens of the settings, some of which may not be set.
func (s settings) secrets() []api.Secret {
	return []api.Secret{s.APIKey, s.RelayToken, s.SigningSecret, s.Postgres}
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

// addressed is the error of an address that cannot be used, with the way to use it
// all the same, if there is one.
func addressed(err error) error {
	var readable *api.ClearTextError
	if errors.As(err, &readable) {
		err = fmt.Errorf("%w, or allow it with --insecure-http", err)
	}
	return usage(err)
}

// accountFlags are the flags of every command that looks at an account.
func accountFlags(flags *pflag.FlagSet) {
	sourceFlags(flags)
	settingFlags(flags, "api_url", "relay_url", "insecure_http", "watch_id", "watch_ids", "poll_share", "poll_every", "confirm_window", "keep_intents", "state_dir")
}

// sourceFlags say where the settings come from.
func sourceFlags(flags *pflag.FlagSet) {
	flags.String("config", "", "configuration file (default tillwatch.toml in the user's configuration folder)")
	flags.String("profile", "", "profile of the configuration file to use")
}

// loadSettings merges all sources.
func loadSettings(flags *pflag.FlagSet) (settings, error) {
	s, err := loadProfile(flags, "")
	return s, explainable(err)
}

// loadProfile merges all sources for a profile that is switched to, of which the
// file alone names the account; "" is the one that the flags choose.
func loadProfile(flags *pflag.FlagSet, switchedTo string) (settings, error) {
	k := koanf.New(".")
	from := sources{}
	chosen, all, err := loadFile(k, flags, switchedTo, from)
	if err != nil {
		return settings{}, err
	}
	ofFile := k.Copy()
	if err := loadEnvironment(k, from); err != nil {
		return settings{}, err
	}
	known := settingKeys()
	flagKey := func(f *pflag.Flag) (string, any) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		if !slices.Contains(known, key) || !f.Changed {
			return "", nil
		}
		from.note(key, "flag --"+f.Name)
		return key, posflag.FlagVal(flags, f)
	}
	if err := k.Load(posflag.ProviderWithFlag(flags, ".", k, flagKey), nil); err != nil {
		return settings{}, fmt.Errorf("reading flags: %w", err)
	}
	if switchedTo != "" {
		restoreAccount(k, ofFile)
	}
	profile := chosen
	if source := keySource(ofFile); source == "" || keySource(k) != source {
		profile = ""
	}
	keyFile := k.String("api_key_file")
	if k.String("api_key") != "" {
		keyFile = ""
	}
	s := defaults()
	s.Sources = from
	if s.SecretFiles, err = readSecretFiles(k); err != nil {
		return s, err
	}
	if err := s.assign(k); err != nil {
		return s, together(err)
	}
	s.Profile, s.KeyFile, s.Chosen, s.Profiles = profile, keyFile, chosen, all
	return s, s.check()
}

// restoreAccount has the file alone name the account.
func restoreAccount(k, ofFile *koanf.Koanf) {
	for _, key := range ofAccount() {
		k.Delete(key)
		if ofFile.Exists(key) {
			_ = k.Set(key, ofFile.Get(key)) // it came from such a map
		}
	}
}

// keySource tells whether the API key still comes from where it came from.
func keySource(k *koanf.Koanf) string {
	return strings.TrimPrefix(k.String("api_key")+"\n"+k.String("api_key_file"), "\n")
}

// loadFile reads the configuration file: its top level, then a profile over it: that
// which is named, or else the one that the flags choose. It returns that profile's
// name and all there are, and notes what is given where. A file that nobody named may
// be absent.
func loadFile(k *koanf.Koanf, flags *pflag.FlagSet, profile string, from sources) (chosen string, all []string, err error) {
	path, _ := flags.GetString("config")
	if path == "" {
		path = os.Getenv("TILLWATCH_CONFIG")
	}
	if profile == "" {
		profile, _ = flags.GetString("profile")
	}
	if profile == "" {
		profile = os.Getenv("TILLWATCH_PROFILE")
	}
	named := path != ""
	if !named {
		path = filepath.Join(configDir(), "tillwatch.toml")
	}
	content := koanf.New(".")
	err = content.Load(file.Provider(path), toml.Parser())
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named && profile == "":
		return "", nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, usagef("the configuration file %s does not exist", path)
	case err != nil:
		return "", nil, usage(placed(path, err))
	}
	if err := checkProfiles(path, content); err != nil {
		return "", nil, err
	}
	profiles := content.Cut("profile")
	if profile == "" {
		profile = content.String("default_profile")
	}
	content.Delete("profile")
	if err := checkKeys(path, "", content, "default_profile"); err != nil {
		return "", nil, err
	}
	for _, name := range profiles.MapKeys("") {
		if err := checkKeys(path, "profile."+name+".", profiles.Cut(name)); err != nil {
			return "", nil, err
		}
	}
	if profile != "" && !profiles.Exists(profile) {
		return "", nil, usagef("%s has no profile %q; it has: %s", path, profile, orNone(profiles.MapKeys("")))
	}
	content.Delete("default_profile")
	from.noteAll(content, path)
	if err := k.Merge(content); err != nil {
		return "", nil, err
	}
	if profile == "" {
		return "", profiles.MapKeys(""), nil
	}
	from.noteAll(profiles.Cut(profile), "profile "+profile+" of "+path)
	return profile, profiles.MapKeys(""), k.Merge(profiles.Cut(profile))
}

// checkProfiles refuses profiles that are no tables of settings.
func checkProfiles(path string, content *koanf.Koanf) error {
	const must = "a table, as in [profile.staging]"
	if value := content.Get("default_profile"); value != nil {
		if _, is := value.(string); !is {
			return fmt.Errorf("%s: %w", path, unfit("default_profile", value, "the name of a profile in quotes"))
		}
	}
	value := content.Get("profile")
	profiles, is := value.(map[string]any)
	if value != nil && !is {
		return fmt.Errorf("%s: %w", path, unfit("profile", value, must))
	}
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		if _, is := profiles[name].(map[string]any); !is {
			return fmt.Errorf("%s: %w", path, unfit("profile."+name, profiles[name], must))
		}
	}
	return nil
}

// checkKeys refuses keys that mean nothing: most are typing errors.
func checkKeys(path, prefix string, content *koanf.Koanf, also ...string) error {
	known := append(settingKeys(), also...)
	for _, key := range content.Keys() {
		if strings.HasPrefix(key, "keys.") {
			continue // the actions are named where they are known
		}
		if !slices.Contains(known, key) && !emptyTable(content, known, key) {
			return usagef("%s: there is no setting %q%s", path, prefix+key, suggest(key, known))
		}
	}
	return nil
}

// emptyTable reports whether key is a table of settings, in which there are none.
func emptyTable(content *koanf.Koanf, known []string, key string) bool {
	table, is := content.Get(key).(map[string]any)
	return is && len(table) == 0 && slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

// loadEnvironment reads TILLWATCH_API_URL and its like.
func loadEnvironment(k *koanf.Koanf, from sources) error {
	known := settingKeys()
	provider := env.Provider(".", env.Opt{
		Prefix: variablePrefix,
		TransformFunc: func(name, value string) (string, any) {
			flat := strings.ToLower(strings.TrimPrefix(name, variablePrefix))
			i := slices.IndexFunc(known, func(key string) bool { return strings.ReplaceAll(key, ".", "_") == flat })
			if i < 0 || slices.Contains(tables(), known[i]) { // a table has no place in a variable
				return "", nil
			}
			key := known[i]
			from.note(key, "variable "+name)
			if key == "watch_id" {
				return key, strings.Split(value, ",")
			}
			return key, value
		},
	})
	if err := k.Load(provider, nil); err != nil {
		return fmt.Errorf("reading the environment: %w", err)
	}
	return nil
}

// readSecretFiles replaces KEY_file by the secret that the file holds. A secret
// given directly wins. It returns the files that were read.
func readSecretFiles(k *koanf.Koanf) (files map[string]string, err error) {
	files = map[string]string{}
	for _, key := range secrets() {
		path := k.String(key + "_file")
		k.Delete(key + "_file")
		if path == "" || k.String(key) != "" {
			continue
		}
		secret, err := readSecretFile(path)
		if err != nil {
			return files, usagef("reading the file that %s_file names: %w", key, err)
		}
		files[key] = path
		if err := k.Set(key, secret); err != nil {
			return files, err
		}
	}
	return files, nil
}

// requireAccount refuses settings that name no account.
func (s settings) requireAccount() error {
	if s.APIURL == "" {
		return usagef("no service is configured: give --api-url or set TILLWATCH_API_URL (or try: tillwatch demo)")
	}
	if s.APIKey.IsZero() {
		return usagef("no API key is configured: set TILLWATCH_API_KEY or TILLWATCH_API_KEY_FILE")
	}
	if s.RelayURL != "" && s.RelayToken.IsZero() {
		return usagef("a relay is configured without its token: set TILLWATCH_RELAY_TOKEN or TILLWATCH_RELAY_TOKEN_FILE")
	}
	return nil
}

func configDir() string {
	if dir, err := os.UserConfigDir(); err == nil {
		return filepath.Join(dir, "tillwatch")
	}
	return "."
}

// stateDir follows the XDG base directory specification, which the standard
// library does for configuration and caches alone.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tillwatch")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "tillwatch")
	}
	return filepath.Join(os.TempDir(), "tillwatch")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// placed adds the line to an error of the configuration file, where it tells one.
func placed(path string, err error) error {
	var wrong *tomlfile.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return fmt.Errorf("%s, line %d, column %d: %s", path, line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("reading the configuration file %s: %w", path, err)
}
