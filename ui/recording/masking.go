package recording

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
func maskText(text string) string {
	if strings.Contains(text, "@") {
		text = mails.ReplaceAllString(text, hidden)
	}
	if strings.Contains(text, "=") {
		text = queries.ReplaceAllString(text, "${1}"+hidden)
	}
	return secrets.ReplaceAllString(text, "${1}${2}"+hidden)
}

// maskQuoted masks what of the buyer a free text repeats.
func maskQuoted(text string, b *api.Buyer) string {
	const shortest = 4 // less would hit words
	if b != nil {
		for _, value := range []api.Text{b.FirstName, b.LastName, b.Email, b.Phone, b.Address1, b.Address2, b.City, b.PostalCode} {
			if len(value) >= shortest {
				text = strings.ReplaceAll(text, string(value), hidden)
			}
		}
	}
	return maskText(text)
}

// maskAddress takes the user, the values of the query and the fragment out of an
// address.
func maskAddress(address string) string {
	address, _, _ = strings.Cut(address, "#")
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
	return maskText(address)
}

// maskNumber keeps the end of a tracking number: enough to tell two apart.
func maskNumber(number string) string {
	const kept, least = 4, 8
	if number == "" {
		return ""
	}
	runes := []rune(number)
	if runes[0] == '…' && len(runes) <= kept+1 {
		return number // it is masked already
	}
	if len(runes) < least {
		return hidden
	}
	return "…" + string(runes[len(runes)-kept:])
}

// maskBuyer says which of the buyer's fields there are, and the country.
func maskBuyer(b *api.Buyer) map[string]string {
	if b == nil {
		return nil
	}
	fields := map[string]string{}
	for name, value := range map[string]api.Text{
		"firstName": b.FirstName, "lastName": b.LastName, "email": b.Email, "phone": b.Phone, "address1": b.Address1,
		"address2": b.Address2, "city": b.City, "province": b.Province, "postalCode": b.PostalCode,
	} {
		if value != "" {
			fields[name] = hidden
		}
	}
	if b.Country != "" {
		fields["country"] = string(b.Country)
	}
	return fields
}
