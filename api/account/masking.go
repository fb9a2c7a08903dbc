package account

import (
	"regexp"
	"strings"

	"tillwatch/api"
)

// hidden replaces what is masked, here as everywhere.
const hidden = "[masked]"

var (
	// mails matches mail addresses in free text, queries the values of an address's query and fragment, and announced what
	// follows a word like a secret's.
	mails     = regexp.MustCompile(`[^\s"'<>(),;:=]+(?:@|%(?:25)*40)[^\s"'<>(),;:=/?#&]+`)
	queries   = regexp.MustCompile(`(?i)((?:[?&;#]|%(?:25)*(?:3f|26|3b|23))[^=&#\s"'%]*(?:=|%(?:25)*3d)\s*)[^&#\s]+`)
	announced = regexp.MustCompile(`(?i)\b((?:token|secret|password|api[-_ ]?key|authorization) )([^\s"',;]{6,})`)
)

// maskText masks mail addresses, secrets, query values and what looks like a key in free text.
func maskText(remote api.Text) api.Text { return api.Scrub(maskString(string(remote))) }

// maskString begins with what has a name: a mail address may reach up to the name.
func maskString(text string) string {
	text = string(api.MaskAddress(api.Scrub(text)))
	if strings.ContainsAny(text, "=%") {
		text = queries.ReplaceAllString(text, "${1}"+hidden)
	}
	if strings.Contains(text, " ") {
		text = announced.ReplaceAllString(text, "${1}"+hidden)
	}
	if strings.ContainsAny(text, "@%") {
		text = mails.ReplaceAllString(text, hidden)
	}
	return text
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
