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
			return shownValue(held(field))
		}
	}
	return "[set]"
}

// checkSecrets looks at the shape of keys and tokens: what was copied with them is
// part of them.
func (p *patient) checkSecrets(context.Context) []doctor.Finding {
	found := p.shapes(func(one setting) bool { return one.key != signingSecret })
	if found == nil {
		return doctor.Fine("none has anything around it")
	}
	return found
}

// signingSecret is the setting that neither the service nor a relay is asked with.
const signingSecret = "signing_secret"

// checkSigning looks at the shape of the signing secret: whether it is that of the
// account, only a delivery can tell.
func (p *patient) checkSigning(context.Context) []doctor.Finding {
	if p.settings.SigningSecret.IsZero() {
		return doctor.Skip("no signing secret is configured")
	}
	if found := p.shapes(func(one setting) bool { return one.key == signingSecret }); found != nil {
		return found
	}
	return doctor.Findings(doctor.Note, "the signing secret is long enough; nothing here tells whether it is that of the account", "", "try it on a delivery of the service: tillwatch verify")
}

// shapes is what is wrong with the shape of some of the secrets; nil for nothing.
func (p *patient) shapes(of func(setting) bool) (found []doctor.Finding) {
	s := p.settings
	for _, one := range settingTable() {
		secret, is := one.field(&s).(*api.Secret)
		if !is || secret.IsZero() || !of(one) {
			continue
		}
		file, place := s.SecretFiles[one.key], one.key
		if file != "" {
			place += " in " + shortened(file)
		}
		for line := range strings.Lines(secret.Reveal()) { // while a signing secret is rotated, there are two
			if why, means, do := misshapen(one.key, strings.TrimRight(line, "\r\n")); why != "" {
				found = append(found, doctor.Findings(doctor.Fault, place+" "+why, means, do)...)
			}
		}
		if file == "" && len(s.Sources[one.key+"_file"]) > 0 {
			found = append(found, doctor.Findings(doctor.Warning, one.key+"_file is set, and not read", "a secret that is set directly goes before one in a file", "take one of them away")...)
		}
	}
	return found
}

// misshapen says what is wrong with the text of a secret, without repeating it, what
// that means and what to do; "" when nothing is.
func misshapen(key, text string) (why, means, do string) {
	const unfit = "it is used as it stands, and fits nothing"
	if text == "" {
		return "", "", ""
	}
	first, last := text[0], text[len(text)-1]
	_, missing := os.Stat(text)
	switch {
	case first == last && strings.ContainsRune("\"'`", rune(first)):
		return "is in quotes, which are taken as part of it", unfit, "take the quotes away"
	case first == '<' && last == '>':
		return "is a placeholder", unfit, "put the secret itself there"
	case strings.HasPrefix(text, "\ufeff"), strings.TrimSpace(text) != text:
		return "has a blank or a byte order mark around it", unfit, "take that away"
	case strings.ContainsRune(text, os.PathSeparator) && missing == nil:
		return "is the path of a file", unfit, "name the file by " + key + "_file"
	case key == signingSecret && len(text) < relay.MinSecret:
		return fmt.Sprintf("has %d bytes, fewer than %d", len(text), relay.MinSecret), "a relay does not start with it, and a part may be missing", "copy the whole secret from the account console"
	}
	return "", "", ""
}
