package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// checkSettings reports where each setting comes from, and each error in them.
func (p *examination) checkSettings(ctx context.Context) (found []doctor.Finding) {
	if err := errors.Join(p.wrong, p.unusable(ctx)); err != nil {
		for line := range strings.Lines(err.Error()) {
			found = append(found, doctor.Findings(doctor.Fault, strings.TrimSpace(line), "tillwatch does not start",
				"correct it where it is set; flags win over variables, variables over the profile, the profile over the rest of the file")...)
		}
	}
	for _, text := range unreadVariables(os.Environ()) {
		found = append(found, doctor.Findings(doctor.Warning, text, "it has no effect", "rename or remove it")...)
	}
	verdict := doctor.OK
	if found != nil {
		verdict = doctor.Note
	}
	return append(found, p.given(verdict))
}

// unusable is what is wrong with settings that are well-formed.
func (p *examination) unusable(ctx context.Context) error {
	s := p.settings
	if p.wrong != nil {
		return nil
	}
	var filter, list, account error
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		filter = fmt.Errorf("filter is %s: %s", shownValue(s.Filter), why)
	}
	if s.WatchList != fromStdin {
		list = s.readWatchIDs(ctx, nil) // on a copy
	}
	if s.APIURL != "" || s.RelayURL == "" && s.Postgres.IsZero() && p.Journal == "" {
		account = s.requireAccount()
	} else {
		account = s.requireToken()
	}
	return errors.Join(s.checkTheme(), filter, list, account)
}

// given lists the settings that are set, each with its source.
func (p *examination) given(verdict doctor.Verdict) doctor.Finding {
	f := doctor.Finding{Verdict: verdict}
	for _, one := range settingTable() {
		from := slices.Clone(p.settings.Sources[one.key+"_file"])
		if p.settings.SecretFiles[one.key] == "" { // otherwise the setting itself is empty
			from = append(from, p.settings.Sources[one.key]...)
		}
		for _, key := range slices.Sorted(maps.Keys(p.settings.Sources)) {
			if strings.HasPrefix(key, one.key+".") { // of the setting's table
				from = slices.Clone(p.settings.Sources[key])
			}
		}
		if len(from) == 0 {
			continue
		}
		slices.Reverse(from)
		f.Details = append(f.Details, fmt.Sprintf("%s = %s: %s", one.key, p.shown(one), strings.Join(from, ", before ")))
	}
	f.Found = wording.Counted(len(f.Details), "setting", "settings") + " given, the others have their defaults"
	return f
}

// shown is a setting's value for people, without secrets.
func (p *examination) shown(one setting) string {
	if file := p.settings.SecretFiles[one.key]; file != "" {
		return "[in " + wording.Path(file) + "]"
	}
	switch field := one.field(&p.settings).(type) {
	case *string:
		if !one.private && (!strings.HasSuffix(one.key, "_url") || api.HostOf(*field) != "" || *field == "") { // in other addresses, the end of a password cannot be found
			return shownValue(*field)
		}
	case *bool:
		return fmt.Sprint(*field)
	case *[]string:
		return shownValue(strings.Join(*field, ", "))
	case *int, *float64, *time.Duration:
		if !one.private {
			return shownValue(valueOf(field))
		}
	}
	return "[set]"
}

// checkSecrets checks the form of keys and tokens: whatever was copied along becomes
// part of them.
func (p *examination) checkSecrets(context.Context) []doctor.Finding {
	found := p.malformedSecrets(func(one setting) bool { return one.key != signingSecret })
	if found == nil {
		return doctor.Fine("they are well-formed")
	}
	return found
}

// secretFiles are the files that the secrets came from, and their other sources.
func (s settings) secretFiles() []string {
	var all []string
	for _, key := range secretKeys() {
		if file := s.SecretFiles[key]; file != "" {
			all = append(all, file)
		}
		for _, from := range s.Sources[key] { // the configuration file, if the secret is in it
			if _, file, named := strings.Cut(from, " of "); named {
				from = file
			}
			all = append(all, from)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// signingSecret is the only secret that is sent to neither the service nor a relay.
const signingSecret = "signing_secret"

// checkSigning checks the form of the signing secret: only a delivery can prove that
// it is the account's.
func (p *examination) checkSigning(context.Context) []doctor.Finding {
	if p.settings.SigningSecret.IsZero() {
		return doctor.Skip("no signing secret is configured")
	}
	if found := p.malformedSecrets(func(one setting) bool { return one.key == signingSecret }); found != nil {
		return found
	}
	return doctor.Findings(doctor.Note, "the signing secret is long enough; only a delivery can show whether it is the account's", "", "try it on a delivery: tillwatch verify")
}

// malformedSecrets reports secrets of a wrong form; nil if there are none.
func (p *examination) malformedSecrets(of func(setting) bool) (found []doctor.Finding) {
	s := p.settings
	for _, one := range settingTable() {
		secret, ok := one.field(&s).(*api.Secret)
		if !ok || secret.IsZero() || !of(one) {
			continue
		}
		file, place := s.SecretFiles[one.key], one.key
		if file != "" {
			place += " in " + wording.Path(file)
		}
		for line := range strings.Lines(secret.Reveal()) { // during a rotation there are two signing secrets
			if why, means, do := malformed(one.key, strings.TrimRight(line, "\r\n")); why != "" {
				found = append(found, doctor.Findings(doctor.Fault, place+" "+why, means, do)...)
			}
		}
		if file == "" && len(s.Sources[one.key+"_file"]) > 0 {
			found = append(found, doctor.Findings(doctor.Warning, one.key+"_file is set but not read", "a secret that is set directly wins over a file", "remove one of them")...)
		}
	}
	return found
}

// malformed says what is wrong with the form of a secret without repeating it, what
// that means and what to do; "" if it is well-formed.
func malformed(key, text string) (why, means, do string) {
	const unfit = "it is used as it is, and does not match"
	if text == "" {
		return "", "", ""
	}
	first, last := text[0], text[len(text)-1]
	_, missing := os.Stat(text)
	switch {
	case first == last && strings.ContainsRune("\"'`", rune(first)):
		return "is in quotes, which count as part of it", unfit, "remove the quotes"
	case first == '<' && last == '>':
		return "is a placeholder", unfit, "replace it with the secret"
	case strings.TrimSpace(text) != text:
		return "begins or ends with a blank", unfit, "remove that"
	case strings.ContainsRune(text, os.PathSeparator) && missing == nil:
		return "is the path of a file", unfit, "give the file as " + key + "_file"
	case key == signingSecret && len(text) < relay.MinSecret:
		return fmt.Sprintf("has %d bytes, fewer than %d", len(text), relay.MinSecret), "a relay with it does not start; a part may be missing", "copy the whole secret from the account console"
	}
	return "", "", ""
}
