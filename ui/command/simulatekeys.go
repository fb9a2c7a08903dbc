package command

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/ui/config"
)

// keyUsage describes --key. The key itself is not part of it: other users of a
// machine can read a command line.
const keyUsage = "another key: name=NAME[,scopes=SCOPE,…][,environment=production][,from-env=VARIABLE|,from-file=PATH] (repeatable);\n" +
	"without from-… the key is made for this run and printed"

// extraKey is a key that --key asks for.
type extraKey struct {
	simulator.Key
	made bool // for this run
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// parseKeys reads every --key. Errors repeat nothing that may be a secret in the
// wrong place.
func parseKeys(texts []string) ([]extraKey, error) {
	var all []extraKey
	for _, text := range texts {
		key, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(k extraKey) bool { return k.Name == key.Name }) {
			return nil, fmt.Errorf("--key names %q twice", key.Name)
		}
		all = append(all, key)
	}
	return all, nil
}

func parseKey(text string) (extraKey, error) {
	fields, err := keyFields(text)
	if err != nil {
		return extraKey{}, err
	}
	one := func(field string) string { return strings.Join(fields[field], ",") }
	name := one("name")
	if !keyName.MatchString(name) {
		return extraKey{}, fmt.Errorf("--key needs a name of letters, digits, dots, dashes and underscores, as in --key name=reader,scopes=events:read")
	}
	k := extraKey{Key: simulator.Key{Name: name, Environment: simulator.Environment(one("environment"))}}
	for _, scope := range fields["scopes"] {
		k.Scopes = append(k.Scopes, simulator.Scope(scope))
	}
	variable, path := one("from-env"), one("from-file")
	secret := ""
	switch {
	case variable != "" && path != "":
		return k, fmt.Errorf("--key name=%s takes its value from from-env or from from-file, not from both", name)
	case variable != "":
		if secret = os.Getenv(variable); secret == "" {
			return k, fmt.Errorf("--key name=%s takes its value from the environment variable %s, which is not set", name, variable)
		}
	case path != "":
		if secret, err = config.ReadSecret(path); err != nil {
			return k, fmt.Errorf("--key name=%s: reading its value: %w", name, err)
		}
	default:
		secret, k.made = rand.Text(), true
	}
	k.Secret = api.NewSecret(secret)
	if k.Environment == "" {
		k.Environment = simulator.Environment(cmp.Or(api.KeyEnvironment(k.Secret), string(simulator.Staging)))
	}
	return k, nil
}

// keyFields splits name=value pairs. A part without a name continues the list before
// it, as in scopes=events:read,products:read.
func keyFields(text string) (map[string][]string, error) {
	known := []string{"name", "scopes", "environment", "from-env", "from-file"}
	fields := map[string][]string{}
	field := ""
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(part, "=")
		switch {
		case !named && field == "scopes":
			value = part
		case !named:
			return nil, fmt.Errorf("write --key name=NAME,scopes=SCOPE,…; never put the key there: use from-env=VARIABLE or from-file=PATH")
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("--key has a part other than %s; never put the key there: use from-env=VARIABLE or from-file=PATH", strings.Join(known, ", "))
		case fields[name] != nil:
			return nil, fmt.Errorf("--key gives %s twice", name)
		default:
			field = name
		}
		if value == "" {
			return nil, fmt.Errorf("--key gives no value for %s", field)
		}
		fields[field] = append(fields[field], value)
	}
	return fields, nil
}
