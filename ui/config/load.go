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
	unread := s.readSecrets(merged)
	_, wrong := decode(merged.Raw(), &s)
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

// profiles are the tables of a configuration file's profiles.
type (
	profiles map[string]profile
	profile  map[string]any
)

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
	var file struct {
		Usual    string   `koanf:"default_profile"`
		Profiles profiles `koanf:"profile"`
	}
	_, wrong := decode(content, &file)
	delete(content, "profile")
	delete(content, "default_profile")
	wrong = append(wrong, unknownIn("", content)...)
	for _, name := range sortedKeys(file.Profiles) {
		wrong = append(wrong, unknownIn("profile."+name+".", file.Profiles[name])...)
	}
	if len(wrong) > 0 {
		return nil, Wrongf("%s: %w", path, wrong[0])
	}
	s.Profiles, s.Chosen = sortedKeys(file.Profiles), cmp.Or(profile, file.Usual)
	own, exists := file.Profiles[s.Chosen]
	if s.Chosen != "" && !exists {
		return nil, Wrongf("%s has no profile %q; it has: %s", path, s.Chosen, cmp.Or(strings.Join(s.Profiles, ", "), "none"))
	}
	above := koanf.New(".")
	return k, errors.Join(k.Load(confmap.Provider(content, ""), nil), above.Load(confmap.Provider(own, ""), nil), merge(k, above))
}

// unknownIn refuses the settings of a table that do not exist: most are typing errors.
func unknownIn(place string, table map[string]any) (wrong []error) {
	known := Keys()
	unused, _ := decode(table, new(Settings))
	for _, key := range unused {
		if table, _, inCommand := strings.Cut(key, "]."); inCommand {
			for _, name := range []string{"key", "name", "program", "args", "confirm", "live"} {
				known = append(known, table+"]."+name)
			}
		}
		if !slices.Contains(known, key) {
			wrong = append(wrong, fmt.Errorf("there is no setting %q%s", place+key, wording.Suggest(key, known)))
		}
	}
	return wrong
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
