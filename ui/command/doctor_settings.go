package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkSettings reports each error in the settings.
func (p *examination) checkSettings(ctx context.Context) (found []doctor.Finding) {
	if err := errors.Join(p.wrong, p.unusable(ctx)); err != nil {
		for line := range strings.Lines(err.Error()) {
			found = append(found, doctor.Findings(doctor.Fault, strings.TrimSpace(line), "tillwatch does not start",
				"correct it where it is set; flags win over variables, variables over the profile, the profile over the rest of the file")...)
		}
	}
	if found == nil {
		return doctor.Fine("they can be used")
	}
	return found
}

// unusable is what is wrong with settings that are well-formed.
func (p *examination) unusable(ctx context.Context) error {
	s := p.settings
	if p.wrong != nil {
		return nil
	}
	var filter, list, account error
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		filter = fmt.Errorf("filter is %s: %s", config.Shown(s.Filter), why)
	}
	if s.WatchList != fromStdin {
		list = readWatchIDs(&s, ctx, nil) // on a copy
	}
	if s.APIURL != "" || s.RelayURL == "" && s.Postgres.IsZero() && p.Journal == "" {
		account = s.RequireAccount()
	} else {
		account = s.RequireToken()
	}
	return errors.Join(checkTheme(s), filter, list, account)
}

// checkSecrets checks the form of keys and tokens: whatever was copied along becomes
// part of them.
func (p *examination) checkSecrets(context.Context) []doctor.Finding {
	found := p.malformedSecrets("api_key", "relay_token", "postgres")
	if found == nil {
		return doctor.Fine("they are well-formed")
	}
	return found
}

// signingSecret is the only secret that is sent to neither the service nor a relay.
const signingSecret = "signing_secret"

// checkSigning checks the form of the signing secret: only a delivery can prove that
// it is the account's.
func (p *examination) checkSigning(context.Context) []doctor.Finding {
	if p.settings.SigningSecret.IsZero() {
		return doctor.Skip("no signing secret is configured")
	}
	if found := p.malformedSecrets(signingSecret); found != nil {
		return found
	}
	return doctor.Findings(doctor.Note, "the signing secret is long enough; only a delivery can show whether it is the account's", "", "try it on a delivery: tillwatch verify")
}

// malformedSecrets reports those of these secrets that have a wrong form; nil if there are none.
func (p *examination) malformedSecrets(keys ...string) (found []doctor.Finding) {
	s := p.settings
	secrets := map[string]api.Secret{
		"api_key": s.APIKey, "relay_token": s.RelayToken, "postgres": s.Postgres, signingSecret: s.SigningSecret,
	}
	for _, key := range keys {
		place := key
		if file := s.SecretFiles[key]; file != "" {
			place += " in " + wording.Path(file)
		}
		for line := range strings.Lines(secrets[key].Reveal()) { // during a rotation there are two signing secrets
			if why, means, do := malformed(key, strings.TrimRight(line, "\r\n")); why != "" {
				found = append(found, doctor.Findings(doctor.Fault, place+" "+why, means, do)...)
			}
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
