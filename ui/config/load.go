package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	gotoml "github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/wording"
)

// prefix begins the names of tillwatch's variables.
const prefix = "TILLWATCH_"

// Load merges all sources: the flags that were given, environ, the profile of the configuration file that they choose,
// the rest of the file, the defaults. The file may be absent unless it was named. What cannot be used is refused, all
// of it at once, by an [Error]; the settings are then incomplete.
func Load(flags *pflag.FlagSet, environ []string) (Settings, error) {
	s := Defaults()
	variables, err := readVariables(environ)
	if err != nil {
		return s, err
	}
	merged, err := s.readFile(flags, variables)
	if err != nil {
		return s, err
	}
	ofFile := keySource(merged)
	given := koanf.New(".")
	err = given.Load(posflag.ProviderWithFlag(flags, ".", given, func(f *pflag.Flag) (string, any) {
		if key := strings.ReplaceAll(f.Name, "-", "_"); f.Changed && slices.Contains(Keys(), key) {
			return key, posflag.FlagVal(flags, f)
		}
		return "", nil
	}), nil)
	if err := errors.Join(err, merge(merged, variables), merge(merged, given)); err != nil {
		return s, fmt.Errorf("merging the settings: %w", err)
	}
	if ofFile != "" && ofFile == keySource(merged) {
		s.KeyProfile = s.Chosen
	}
	unread := s.readSecrets(merged)
	wrong := decode(merged.Raw(), &s)
	if wrong == nil {
		wrong = s.check()
	}
	return s, Wrong(errors.Join(append(unread, wrong...)...))
}

// merge adds a source that wins over the others. A secret and its file are one setting: the source that gives either
// decides.
func merge(into, source *koanf.Koanf) error {
	for _, key := range secretKeys() {
		if source.Exists(key) || source.Exists(key+"_file") {
			into.Delete(key)
			into.Delete(key + "_file")
		}
	}
	return into.Merge(source)
}

// keySource changes if the API key comes from elsewhere; "" is nowhere.
func keySource(k *koanf.Koanf) string {
	return strings.Trim(k.String("api_key")+"\n"+k.String("api_key_file"), "\n")
}

// kubernetes matches the variables that Kubernetes sets in every container beside a service of this name.
var kubernetes = regexp.MustCompile(`^([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_.+)?)$`)

// readVariables reads TILLWATCH_API_URL and the like. It refuses those that nothing reads, as most are typing errors,
// without repeating their values, which may be secret. TILLWATCH_TEST_… is for tests that start the program.
func readVariables(environ []string) (*koanf.Koanf, error) {
	keys := map[string]string{prefix + "CONFIG": "config", prefix + "PROFILE": "profile"}
	for _, key := range Keys() {
		if !slices.Contains([]string{"keys", "command", "alert_command"}, key) { // tables and programs
			keys[prefix+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
		}
	}
	values := map[string]any{}
	var wrong []error
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		key, known := keys[strings.ToUpper(name)]
		switch {
		case !ours || strings.HasPrefix(rest, "TEST_") || kubernetes.MatchString(rest):
		case known:
			values[key] = value
		default:
			near := wording.Nearest(name, sortedKeys(keys))
			if near != "" {
				near = ": did you mean " + near + "?"
			}
			wrong = append(wrong, fmt.Errorf("%.60s is set, but there is no such setting%s", name, near))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if len(wrong) > 0 {
		return nil, Wrong(errors.Join(wrong...))
	}
	k := koanf.New(".")
	return k, k.Load(confmap.Provider(values, "."), nil)
}

// readFile reads the configuration file: its top level, then over it the chosen profile. It notes the profiles. It
// takes the file and the profile out of the variables.
func (s *Settings) readFile(flags *pflag.FlagSet, variables *koanf.Koanf) (*koanf.Koanf, error) {
	chosen := func(name string) string {
		given, _ := flags.GetString(name)
		value := cmp.Or(given, variables.String(name))
		variables.Delete(name)
		return value
	}
	path, profile := chosen("config"), chosen("profile")
	named := path != "" || profile != ""
	path = cmp.Or(path, filepath.Join(Dir(), "tillwatch.toml"))
	k := koanf.New(".")
	text, err := ReadFile(path, api.FileText)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return k, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, Wrongf("the configuration file %s does not exist", path)
	case err != nil:
		return nil, Wrongf("reading the configuration file %s: %w", path, err)
	}
	content, err := toml.Parser().Unmarshal(text)
	if err != nil {
		return nil, Wrong(withPosition(path, err))
	}
	usual, profiles, err := splitProfiles(content)
	if err == nil {
		err = unknownIn("", content)
	}
	for _, name := range sortedKeys(profiles) {
		err = cmp.Or(err, unknownIn("profile."+name+".", profiles[name]))
	}
	if err != nil {
		return nil, Wrongf("%s: %w", path, err)
	}
	s.Profiles, s.Chosen = sortedKeys(profiles), cmp.Or(profile, usual)
	own, exists := profiles[s.Chosen]
	if s.Chosen != "" && !exists {
		return nil, Wrongf("%s has no profile %q; it has: %s", path, s.Chosen, orNone(s.Profiles))
	}
	above := koanf.New(".")
	return k, errors.Join(k.Load(confmap.Provider(content, ""), nil), above.Load(confmap.Provider(own, ""), nil), merge(k, above))
}

// splitProfiles takes the profiles out of a configuration file's content, and the name of the usual one.
func splitProfiles(content map[string]any) (usual string, profiles map[string]map[string]any, err error) {
	const must = "a table, as in [profile.staging]"
	if value := content["default_profile"]; value != nil {
		var ok bool
		if usual, ok = value.(string); !ok {
			return "", nil, invalid("default_profile", value, "the name of a profile in quotes")
		}
	}
	tables, ok := content["profile"].(map[string]any)
	if value := content["profile"]; value != nil && !ok {
		return "", nil, invalid("profile", value, must)
	}
	profiles = map[string]map[string]any{}
	for _, name := range sortedKeys(tables) {
		if profiles[name], ok = tables[name].(map[string]any); !ok {
			return "", nil, invalid("profile."+name, tables[name], must)
		}
	}
	delete(content, "profile")
	delete(content, "default_profile")
	return usual, profiles, nil
}

// unknownIn refuses the first setting of a table that does not exist: most are typing errors.
func unknownIn(place string, table map[string]any) error {
	known := Keys()
	for _, key := range sortedKeys(table) {
		inner, isTable := table[key].(map[string]any)
		switch {
		case key == "alerts" && isTable:
			for _, name := range sortedKeys(inner) {
				if name = key + "." + name; !slices.Contains(known, name) {
					return unknown(place, name, known)
				}
			}
		case key != "alerts" && !slices.Contains(known, key):
			return unknown(place, key, known)
		}
	}
	return nil
}

// unknown says that there is no such setting, with the likely one.
func unknown(place, key string, known []string) error {
	return fmt.Errorf("there is no setting %q%s", place+key, wording.Suggest(key, known))
}

// withPosition adds the line to an error of the configuration file, if known.
func withPosition(path string, err error) error {
	var wrong *gotoml.DecodeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("reading the configuration file %s: %w", path, err)
	}
	line, column := wrong.Position()
	return fmt.Errorf("%s, line %d, column %d: %s", path, line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
}
