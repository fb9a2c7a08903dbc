package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/wording"
)

// given are the given values as they were written, by setting; a table's are
// table.name.
type given map[string]any

// flattened converts the content of a configuration file.
func flattened(content map[string]any) given {
	values := given{}
	for key, value := range content {
		table, ok := value.(map[string]any)
		if !ok || len(table) == 0 {
			values[key] = value
		}
		for name, value := range table {
			values[key+"."+name] = value
		}
	}
	return values
}

// text is a value as it was written; "" if not given.
func (v given) text(key string) string {
	if v[key] == nil {
		return ""
	}
	return fmt.Sprint(v[key])
}

// keySource changes if the API key comes from elsewhere.
func (v given) keySource() string {
	return strings.TrimPrefix(v.text("api_key")+"\n"+v.text("api_key_file"), "\n")
}

// checkKeys refuses unknown keys: most are typing errors.
func (v given) checkKeys(path, prefix string, also ...string) error {
	known := append(settingKeys(), also...)
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if strings.HasPrefix(key, "keys.") {
			continue // the action table checks them
		}
		if !slices.Contains(known, key) && !v.emptyTable(known, key) {
			return usagef("%s: there is no setting %q%s", path, prefix+key, wording.Suggest(key, known))
		}
	}
	return nil
}

// emptyTable reports whether key is an empty table of settings.
func (v given) emptyTable(known []string, key string) bool {
	_, ok := v[key].(map[string]any)
	return ok && slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

// readVariables reads TILLWATCH_API_URL and the like.
func (v given) readVariables(from sources) {
	known := variableKeys()
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		i := slices.IndexFunc(known, func(key string) bool { return variableOf(key) == strings.ToUpper(rest) })
		if !ours || i < 0 {
			continue
		}
		from.note(known[i], "variable "+name)
		v[known[i]] = value
	}
}

const (
	variablePrefix = "TILLWATCH_"
	ofTests        = "TEST_" // for tests that start the program
)

// variableOf is the name of a setting's environment variable, without the prefix.
func variableOf(key string) string { return strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

// unreadVariables reports each TILLWATCH_ variable that nothing reads, with the
// likely name. It does not repeat values: they may be secret.
func unreadVariables(environment []string) (warnings []string) {
	known := []string{"CONFIG", "PROFILE"}
	for _, key := range variableKeys() {
		known = append(known, variableOf(key))
	}
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if !ours || strings.HasPrefix(rest, ofTests) || slices.Contains(known, strings.ToUpper(rest)) {
			continue
		}
		text := fmt.Sprintf("%.60s is set, but nothing reads it", name)
		if rest == "KEYS" {
			text += ": keys are set in tillwatch.toml, under [keys]"
		} else if near := wording.Nearest(rest, known); near != "" {
			text += ": did you mean " + variablePrefix + near + "?"
		}
		warnings = append(warnings, text)
	}
	slices.Sort(warnings)
	return warnings
}

// readFlags reads the flags of settings that were given.
func (v given) readFlags(flags *pflag.FlagSet, from sources) {
	known := settingKeys()
	flags.VisitAll(func(f *pflag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		if !f.Changed || !slices.Contains(known, key) {
			return
		}
		from.note(key, "flag --"+f.Name)
		v[key] = f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			v[key] = list.GetSlice()
		}
	})
}

// readSecretFiles replaces KEY_file by the secret in the file. A secret given
// directly wins. It returns the files that were read.
func (v given) readSecretFiles() (files map[string]string, wrong error) {
	files = map[string]string{}
	for _, key := range secretKeys() {
		path, text := v.text(key+"_file"), v.text(key)
		delete(v, key+"_file")
		if _, err := api.SecretText([]byte(text)); err != nil { // as in a file
			wrong = errors.Join(wrong, usagef("%s: %w", key, err))
			delete(v, key)
			continue
		}
		if path == "" || text != "" {
			continue
		}
		secret, err := readSecretFile(path)
		if err == nil && strings.TrimSpace(secret) == "" { // it is being written, or was lost
			err = fmt.Errorf("%s holds no secret", path)
		}
		if err != nil {
			wrong = errors.Join(wrong, usagef("reading the file that %s_file names: %w", key, err))
			continue
		}
		files[key], v[key] = path, secret
	}
	return files, wrong
}

// sources are where settings come from, by setting.
type sources map[string][]string

func (s sources) note(key, source string) { s[key] = append(s[key], source) }

// noteAll records the source of all these values.
func (s sources) noteAll(there given, source string) {
	for key := range there {
		s.note(key, source)
	}
}
