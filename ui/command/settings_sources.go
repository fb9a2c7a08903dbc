package command

import "github.com/knadh/koanf/v2"

// sources are where settings come from, by their name in the configuration file.
type sources map[string][]string

func (s sources) note(key, source string) { s[key] = append(s[key], source) }

// noteAll notes all that is given there.
func (s sources) noteAll(there *koanf.Koanf, source string) {
	for _, key := range there.Keys() {
		s.note(key, source)
	}
}
