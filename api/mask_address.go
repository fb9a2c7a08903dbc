package api

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	addressUser      = regexp.MustCompile(`(://)[^\s/?#]*@`)
	addressParameter = regexp.MustCompile(`[?&;#]([^=?&;#\s]+)=`)

	// keys matches what has the shape of a key, of a secret of webhooks or of a payment token.
	keys = regexp.MustCompile(`(^|[^A-Za-z0-9])(?:(?:sk|rk|tok)_[A-Za-z0-9_-]{6,}|whsec_[A-Za-z0-9_+/=-]{6,})`)
)

// MaskAddress masks, in an address or in a text that quotes one, the user
// information and the values of the query and the fragment that are named like a
// secret, as [Masked] does with the fields of a body, and whatever looks like a
// key. The rest stays.
func MaskAddress(text Text) Text {
	if whole := maskAddress(string(text)); whole != string(text) {
		return Scrub(whole)
	}
	return text
}

func maskAddress(text string) string {
	if strings.Contains(text, "@") {
		text = addressUser.ReplaceAllString(text, "${1}"+masked+"@")
	}
	if strings.Contains(text, "_") {
		text = keys.ReplaceAllString(text, "${1}"+masked)
	}
	var out strings.Builder
	for {
		at := addressParameter.FindStringSubmatchIndex(text)
		if at == nil {
			return out.String() + text
		}
		name := text[at[2]:at[3]]
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		out.WriteString(text[:at[1]])
		text = text[at[1]:]
		if isSecretField(fieldName(name)) {
			out.WriteString(masked)
			// A value may hold what else begins a parameter.
			if end := strings.IndexAny(text, "&# \t\r\n"); end >= 0 {
				text = text[end:]
			} else {
				text = ""
			}
		}
	}
}
