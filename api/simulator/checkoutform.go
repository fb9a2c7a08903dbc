package simulator

import (
	"net/mail"
	"regexp"
	"strings"
)

// The checkout form of a merchant checks a buyer more strictly than the API, which
// accepts any text as an e-mail address or a phone number.

// strictMerchant accepts only phone numbers with hyphens.
const strictMerchant = "big-store.example"

var (
	anyPhone    = regexp.MustCompile(`^(?:\+?1[ .-]?)?\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}$`)
	strictPhone = regexp.MustCompile(`^\d{3}-\d{3}-\d{4}$`)
)

// refuses returns the form's objection to a buyer; "" if it has none.
func (m *merchant) refuses(b *buyerWire) string {
	pattern := anyPhone
	if m.Domain == strictMerchant {
		pattern = strictPhone
	}
	switch {
	case !pattern.MatchString(b.Phone):
		return "The merchant refused the phone number: it does not match the expected pattern"
	case !isEmail(b.Email):
		return "The merchant refused the e-mail address: it does not match the expected pattern"
	}
	return ""
}

func isEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text {
		return false
	}
	domain := text[strings.LastIndexByte(text, '@')+1:]
	return strings.Contains(domain, ".") && !strings.HasPrefix(domain, "[")
}
