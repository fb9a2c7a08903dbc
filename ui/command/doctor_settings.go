package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkSettings tells where each setting comes from, and what is wrong with them: each
// thing by itself.
func (p *patient) checkSettings(context.Context) (found []doctor.Finding) {
	if err := errors.Join(p.wrong, p.unusable()); err != nil {
		for line := range strings.Lines(err.Error()) {
			found = append(found, doctor.Findings(doctor.Fault, strings.TrimSpace(line), "tillwatch does not start with it",
				"correct it where it is set; flags go before variables, these before the profile, that before the rest of the file")...)
		}
	}
	for _, text := range unreadVariables(os.Environ()) {
		found = append(found, doctor.Findings(doctor.Warning, text, "it changes nothing", "rename it, or take it away")...)
	}
	verdict := doctor.OK
	if found != nil {
		verdict = doctor.Note
	}
	return append(found, p.given(verdict))
}

// unusable is what is wrong with settings that are well-formed.
func (p *patient) unusable() error {
	s := p.settings
	if p.wrong != nil {
		return nil
	}
	var filter, list, account error
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		filter = fmt.Errorf("filter is %s: %s", shownValue(s.Filter), why)
	}
	if s.WatchList != fromStdin {
		list = s.takeWatchList(nil) // of a copy
	}
	switch {
	case s.APIURL != "" || s.RelayURL == "" && s.Postgres.IsZero() && p.data == "":
		account = s.requireAccount()
	case s.RelayURL != "" && s.RelayToken.IsZero():
		account = errors.New("a relay is configured without its token: set TILLWATCH_RELAY_TOKEN or TILLWATCH_RELAY_TOKEN_FILE")
	}
	return errors.Join(s.checkTheme(), filter, list, account)
}

// given are the settings that are given, each with where it comes from.
func (p *patient) given(verdict doctor.Verdict) doctor.Finding {
	f := doctor.Finding{Verdict: verdict}
	for _, one := range settingTable() {
		from := slices.Clone(p.settings.Sources[one.key+"_file"])
		if p.settings.SecretFiles[one.key] == "" { // else what is set directly is empty
			from = append(from, p.settings.Sources[one.key]...)
		}
		for key, places := range p.settings.Sources {
			if strings.HasPrefix(key, one.key+".") { // of its table
				from = places
			}
		}
		if len(from) == 0 {
			continue
		}
		slices.Reverse(from)
		f.Details = append(f.Details, fmt.Sprintf("%s = %s: %s", one.key, p.shown(one), strings.Join(from, ", before ")))
	}
	f.Found = wording.Counted(len(f.Details), "setting", "settings") + " given, the others as by default"
	return f
}

// shown is the value of a setting in words, without what may be secret.
func (p *patient) shown(one setting) string {
	if file := p.settings.SecretFiles[one.key]; file != "" {
		return "[in " + shortened(file) + "]"
	}
	switch field := one.field(&p.settings).(type) {
	case *string:
		if !one.private && (!strings.HasSuffix(one.key, "_url") || hostOf(*field) != "" || *field == "") { // else where a password ends cannot be told
			return shownValue(*field)
		}
	case *bool:
		return fmt.Sprint(*field)
	case *[]string:
		return shownValue(strings.Join(*field, ", "))
	case *int, *float64, *time.Duration:
		if !one.private {
			return shownValue(deref(field))
		}
	}
	return "[set]"
}

// checkSecrets looks at the shape of keys, tokens and secrets: what was copied with
// them is part of them.
func (p *patient) checkSecrets(context.Context) (found []doctor.Finding) {
	s := p.settings
	for _, one := range settingTable() {
		secret, is := one.field(&s).(*api.Secret)
		if !is || secret.IsZero() {
			continue
		}
		file, place := s.SecretFiles[one.key], one.key
		if file != "" {
			place += " in " + shortened(file)
		}
		for line := range strings.Lines(secret.Reveal()) { // while a signing secret is rotated, there are two
			if why, do := misshapen(one.key, strings.TrimRight(line, "\r\n")); why != "" {
				found = append(found, doctor.Findings(doctor.Fault, place+" "+why, "it is used as it stands, and fits nothing", do)...)
			}
		}
		if file == "" && len(s.Sources[one.key+"_file"]) > 0 {
			found = append(found, doctor.Findings(doctor.Warning, one.key+"_file is set, and not read", "a secret that is set directly goes before one in a file", "take one of them away")...)
		}
	}
	if found == nil {
		return doctor.Fine("none has anything around it")
	}
	return found
}

// misshapen says what is wrong with the text of a secret, without repeating it, and
// what to do; "" when nothing is.
func misshapen(key, text string) (why, do string) {
	if text == "" {
		return "", ""
	}
	first, last := text[0], text[len(text)-1]
	_, missing := os.Stat(text)
	switch {
	case first == last && strings.ContainsRune("\"'`", rune(first)):
		return "is in quotes, which are taken as part of it", "take the quotes away"
	case first == '<' && last == '>':
		return "is a placeholder", "put the secret itself there"
	case strings.HasPrefix(text, "\ufeff"), strings.TrimSpace(text) != text:
		return "has a blank or a byte order mark around it", "take that away"
	case strings.ContainsRune(text, os.PathSeparator) && missing == nil:
		return "is the path of a file", "name the file by " + key + "_file"
	case key == "signing_secret" && len(text) < relay.MinSecret:
		return fmt.Sprintf("has %d bytes, fewer than %d", len(text), relay.MinSecret), "copy the whole secret from the account console"
	}
	return "", ""
}
