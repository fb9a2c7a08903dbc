package account

import (
	"regexp"
	"strings"

	"tillwatch/api"
)

// hidden replaces what is masked, here as everywhere.
const hidden = "[masked]"

// mails matches mail addresses in free text.
var mails = regexp.MustCompile(`[^\s"'<>(),;:=]+@[^\s"'<>(),;:=]+`)

// secrets matches secrets in free text, after the words that announce them.
var secrets = regexp.MustCompile(`(?i)\b(bearer|token|secret|password|api[-_ ]?key|authorization)(["']?\s*[:= ]\s*["']?(?:(?:bearer|basic)\s+)?)[^\s"',;]{6,}`)

// queries matches the values of an address's query.
var queries = regexp.MustCompile(`([?&][^=&#\s"']*=)[^&#\s"']*`)

// maskText masks mail addresses, secrets, query values and what looks like a key in free text.
func maskText(remote api.Text) api.Text { return api.Scrub(maskString(string(remote))) }

func maskString(text string) string {
	if strings.Contains(text, "@") {
		text = mails.ReplaceAllString(text, hidden)
	}
	if strings.ContainsAny(text, "=_") {
		text = queries.ReplaceAllString(string(api.MaskAddress(api.Scrub(text))), "${1}"+hidden)
	}
	return secrets.ReplaceAllString(text, "${1}${2}"+hidden)
}

// maskQuoted hides a text that quotes the buyer, and masks the others.
func maskQuoted(remote api.Text, b *api.Buyer) api.Text {
	if b.QuotedIn(remote) {
		return hidden
	}
	return maskText(remote)
}

// maskAddress removes the user, the query's values and the fragment of an address.
func maskAddress(remote api.Text) api.Text {
	address, _, _ := strings.Cut(string(remote), "#")
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		host, path, slash := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = host[at+1:]
		}
		address = scheme + "://" + host
		if slash {
			address += "/" + path
		}
	}
	return api.Scrub(maskString(address))
}

// maskNumber keeps the end of a tracking number, enough to tell two apart.
func maskNumber(number api.Text) api.Text {
	const kept, least = 4, 8
	if number == "" {
		return ""
	}
	runes := []rune(string(number))
	if runes[0] == '…' && len(runes) <= kept+1 {
		return number // already masked
	}
	if len(runes) < least {
		return hidden
	}
	return api.Scrub("…" + string(runes[len(runes)-kept:]))
}
