package account

import (
	"regexp"
	"strings"

	"tillwatch/api"
)

// hidden stands for what is not shown, as it does everywhere else.
const hidden = "[masked]"

// mails are addresses that a free text may quote.
var mails = regexp.MustCompile(`[^\s"'<>(),;:=]+@[^\s"'<>(),;:=]+`)

// secrets are what a free text may quote after these words.
var secrets = regexp.MustCompile(`(?i)\b(bearer|token|secret|password|api[-_ ]?key|authorization)(["']?\s*[:= ]\s*["']?(?:(?:bearer|basic)\s+)?)[^\s"',;]{6,}`)

// queries are the values in an address.
var queries = regexp.MustCompile(`([?&][^=&#\s"']*=)[^&#\s"']*`)

// maskText makes a free text fit for strangers.
func maskText(remote api.Text) api.Text { return api.Scrub(maskString(string(remote))) }

func maskString(text string) string {
	if strings.Contains(text, "@") {
		text = mails.ReplaceAllString(text, hidden)
	}
	if strings.Contains(text, "=") {
		text = queries.ReplaceAllString(text, "${1}"+hidden)
	}
	return secrets.ReplaceAllString(text, "${1}${2}"+hidden)
}

// maskQuoted masks what of the buyer a free text repeats.
func maskQuoted(remote api.Text, b *api.Buyer) api.Text {
	text := string(remote)
	const shortest = 4 // less would hit words
	if b != nil {
		for _, value := range []api.Text{b.FirstName, b.LastName, b.Email, b.Phone, b.Address1, b.Address2, b.City, b.PostalCode} {
			if len(value) >= shortest {
				text = strings.ReplaceAll(text, string(value), hidden)
			}
		}
	}
	return api.Scrub(maskString(text))
}

// maskAddress takes the user, the values of the query and the fragment out of an
// address.
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

// maskNumber keeps the end of a tracking number: enough to distinguish two.
func maskNumber(number api.Text) api.Text {
	const kept, least = 4, 8
	if number == "" {
		return ""
	}
	runes := []rune(string(number))
	if runes[0] == '…' && len(runes) <= kept+1 {
		return number // it is masked already
	}
	if len(runes) < least {
		return hidden
	}
	return api.Scrub("…" + string(runes[len(runes)-kept:]))
}
