package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkSettings tells where each setting comes from, and what is wrong with them: each
// thing by itself.
func (p *patient) checkSettings(context.Context) (found []doctor.Finding) {
	s := p.settings
	wrong := func(err error, do string) {
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			found = append(found, doctor.Findings(doctor.Fault, strings.TrimSpace(line), "tillwatch starts with none of its settings wrong", do)...)
		}
	}
	if p.wrong != nil {
		wrong(p.wrong, "correct it where it is set; a flag goes before a variable, a variable before a profile, and that before the rest of the file")
		return append(found, p.listed(doctor.Note)...)
	}
	wrong(s.checkTheme(), "tillwatch themes lists those there are")
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		wrong(fmt.Errorf("filter is %s: %s", shownValue(s.Filter), why), "the README describes filters")
	}
	if s.WatchList != fromStdin {
		wrong(s.takeWatchList(nil), "correct the ids, or leave them out")
	}
	switch {
	case s.APIURL == "" && s.RelayURL == "" && s.Postgres.IsZero() && p.data == "":
		wrong(fmt.Errorf("nothing is configured"), "set TILLWATCH_API_URL and TILLWATCH_API_KEY, or try: tillwatch demo")
	case s.APIURL != "" || s.RelayURL != "" && !s.APIKey.IsZero():
		wrong(s.requireAccount(), "")
	case s.RelayURL != "" && s.RelayToken.IsZero():
		wrong(fmt.Errorf("a relay is configured without its token"), "set TILLWATCH_RELAY_TOKEN or TILLWATCH_RELAY_TOKEN_FILE")
	}
	for _, text := range unreadVariables(os.Environ()) {
		found = append(found, doctor.Findings(doctor.Warning, text, "it changes nothing", "rename it, or take it away")...)
	}
	if len(found) > 0 {
		return append(found, p.listed(doctor.Note)...)
	}
	return p.listed(doctor.OK)
}

// listed are the settings that are given, each with where it comes from.
func (p *patient) listed(v doctor.Verdict) []doctor.Finding {
	var details []string
	all := settingTable()
	for _, one := range all {
		from := slices.Concat(p.settings.Sources[one.key+"_file"], p.settings.Sources[one.key])
		for _, key := range slices.Sorted(maps.Keys(p.settings.Sources)) { // of its table
			if strings.HasPrefix(key, one.key+".") {
				from = append(from, p.settings.Sources[key]...)
			}
		}
		if len(from) == 0 {
			continue
		}
		text := fmt.Sprintf("%s = %s: %s", one.key, p.shown(one), from[len(from)-1])
		if rest := slices.Compact(from[:len(from)-1]); len(rest) > 0 && one.key != "keys" {
			text += ", before " + strings.Join(rest, ", ")
		}
		details = append(details, text)
	}
	found := doctor.Findings(v, fmt.Sprintf("%s of %d settings given, the others as by default", wording.Count(len(details)), len(all)), "", "")
	found[0].Details = details
	return found
}

// shown is the value of a setting in words, without what may be secret.
func (p *patient) shown(one setting) string {
	switch {
	case one.secret() && p.settings.SecretFiles[one.key] != "":
		return "[in " + shortened(p.settings.SecretFiles[one.key]) + "]"
	case one.secret() || one.private:
		return "[set]"
	}
	switch field := one.field(&p.settings).(type) {
	case *bool:
		return fmt.Sprint(*field)
	case *[]string:
		return strings.Join(*field, ", ")
	case *string, *int, *float64:
		return shownValue(deref(field))
	}
	if value := deref(one.field(&p.settings)); value != nil {
		return fmt.Sprint(value)
	}
	return "[set]"
}

// checkSecrets looks at the shape of keys, tokens and secrets: what was copied with
// them is part of them.
func (p *patient) checkSecrets(context.Context) (found []doctor.Finding) {
	s, given := p.settings, 0
	for _, one := range settingTable() {
		secret, is := one.field(&s).(*api.Secret)
		if !is || secret.IsZero() {
			continue
		}
		given++
		place := one.key
		if file := s.SecretFiles[one.key]; file != "" {
			place += " in " + shortened(file)
		}
		if why, do := misshapen(one.key, secret.Reveal()); why != "" {
			found = append(found, doctor.Findings(doctor.Fault, place+" "+why, "it is sent or compared as it stands, so that it fits nothing", do)...)
		}
		if s.SecretFiles[one.key] == "" && len(s.Sources[one.key+"_file"]) > 0 {
			found = append(found, doctor.Findings(doctor.Warning, one.key+"_file is set, and not read", "a secret that is set directly goes before one in a file",
				"take one of them away")...)
		}
	}
	switch {
	case found != nil:
		return found
	case given == 0:
		return doctor.Skip("none is configured")
	}
	return doctor.Fine("%s, none with anything around it", wording.Counted(given, "secret", "secrets"))
}

// misshapen says what is wrong with the text of a secret, without repeating it, and
// what to do; "" when nothing is.
func misshapen(key, text string) (why, do string) {
	first, last := text[0], text[len(text)-1]
	_, missing := os.Stat(text)
	switch {
	case first == last && strings.ContainsRune("\"'`", rune(first)):
		return "is in quotes, which are taken as part of it", "take the quotes away"
	case strings.HasPrefix(text, "\ufeff"):
		return "begins with a byte order mark", "save the file as UTF-8 without one"
	case first == '<' && last == '>':
		return "is a placeholder", "put the secret itself there"
	case strings.TrimSpace(text) != text:
		return "begins or ends with a blank", "take the blank away"
	case strings.ContainsRune(text, '/') && missing == nil:
		return "is the path of a file", "name the file by " + key + "_file"
	}
	if key != "signing_secret" {
		return "", ""
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && len(line) < relay.MinSecret {
			return fmt.Sprintf("has %d bytes, fewer than %d", len(line), relay.MinSecret), "copy the whole secret from the account console"
		}
	}
	return "", ""
}
