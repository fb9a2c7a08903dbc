package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Masked renders a body of the service as compact JSON that may be shown, logged
// or exported: payment tokens, the buyer's personal data, the values of refused
// fields, stacks, whatever is named or looks like a secret and what [MaskAddress] masks
// become "[masked]"; unknown fields stay. Characters that must not reach a terminal are written as \u
// escapes, so that nothing else is lost. Of a body that is not JSON only the length is
// shown.
func Masked(body []byte) []byte { return masker{}.mask(body) }

// Revealed is [Masked] for a person who asked to see the buyer: personal data is shown,
// unless it is about a payment, named like a secret, or repeats one.
func Revealed(body []byte) []byte { return masker{reveals: true}.mask(body) }

// cover is what an enclosing field has decided about the values within.
type cover int

const (
	coverNothing  cover = iota
	coverBuyer          // everything but the country
	coverPersonal       // personal data outside the buyer
	coverPayment        // everything but the kind and the network
	coverRefused        // what was refused, not why
	coverAll
)

type masker struct {
	reveals bool     // personal data is shown
	tokens  []string // of payments
	secrets []string // what else is named like a secret, if personal data is shown
}

// mostRead is how many bytes the masking of a body may read. Each text is searched for every payment token and secret, and
// each level of nesting reads what is within it: where that would be more, every value is masked, or the whole body.
const mostRead = 100 << 20

func (m masker) mask(body []byte) []byte {
	body = unmarked(body)
	if !json.Valid(body) {
		return fmt.Appendf(nil, `"[not JSON: %d bytes]"`, len(body))
	}
	if levels(body)*len(body) > mostRead {
		return fmt.Appendf(nil, `"[nested too deeply: %d bytes]"`, len(body))
	}
	v := gjson.ParseBytes(body)
	m.tokens = paymentTokens(v, false, m.tokens)
	if m.reveals {
		m.secrets = secretsIn(v, false, m.secrets)
	}
	cover := coverNothing
	if (len(m.tokens)+len(m.secrets))*len(body) > mostRead {
		cover = coverAll
	}
	return escapeUnsafe(m.append(make([]byte, 0, len(body)), v, cover, false))
}

// levels returns how deeply valid JSON is nested.
func levels(body []byte) (most int) {
	level, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			most = max(most, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return most
}

// append appends v. paying is true within whatever is named like a payment or a card.
func (m masker) append(out []byte, v gjson.Result, c cover, paying bool) []byte {
	var begin, end byte
	switch {
	case v.IsObject():
		begin, end = '{', '}'
	case v.IsArray():
		begin, end = '[', ']'
	default:
		return m.appendScalar(out, v, c, paying)
	}
	out = append(out, begin)
	first := true
	v.ForEach(func(key, value gjson.Result) bool {
		if !first {
			out = append(out, ',')
		}
		first = false
		within, paying := c, paying
		if v.IsObject() {
			if hidden := maskAddress(key.Str); hidden != key.Str {
				out = append(appendString(out, hidden), ':')
			} else {
				out = append(append(out, key.Raw...), ':')
			}
			within = c.within(key.Str)
			name := fieldName(key.Str)
			paying = paying || strings.Contains(name, "payment") || strings.Contains(name, "card")
		}
		out = m.append(out, value, within, paying)
		return true
	})
	return append(out, end)
}

func (m masker) appendScalar(out []byte, v gjson.Result, c cover, paying bool) []byte {
	repeats := func(secret string) bool { return strings.Contains(v.Str, secret) || strings.Contains(v.Raw, secret) }
	hide := false
	switch c {
	case coverBuyer, coverPersonal:
		hide = !m.reveals || paying || slices.ContainsFunc(m.secrets, repeats)
	case coverPayment, coverAll:
		hide = true
	}
	switch {
	case v.Type == gjson.Null:
		return append(out, "null"...)
	case hide, v.Type == gjson.String && slices.ContainsFunc(m.tokens, repeats):
		return append(out, `"`+masked+`"`...)
	case v.Type != gjson.String:
		return append(out, v.Raw...)
	}
	if hidden := m.maskString(v.Str); hidden != v.Str {
		return appendString(out, hidden)
	}
	return append(out, v.Raw...)
}

// longestText is the longest text that is searched for secrets. What is longer is masked whole.
const longestText = 1 << 20

// maskString masks a text, which may be JSON itself.
func (m masker) maskString(text string) string {
	if len(text) > longestText {
		return masked
	}
	if strings.IndexAny(strings.TrimSpace(text), "{[") == 0 && json.Valid([]byte(text)) {
		var plain bytes.Buffer
		_ = json.Compact(&plain, []byte(text)) // it is valid
		if whole := string(m.mask(plain.Bytes())); whole != string(escapeUnsafe(plain.Bytes())) {
			return whole
		}
		return text
	}
	return maskAddress(text)
}

func appendString(out []byte, text string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return append(out, `"`+masked+`"`...)
	}
	return append(out, bytes.TrimSpace(quoted.Bytes())...)
}

// within decides about the value of a field.
func (c cover) within(key string) cover {
	name := fieldName(key)
	switch c {
	case coverAll:
		return coverAll
	case coverBuyer, coverPersonal:
		switch {
		case isSecretField(name):
			return coverAll
		case c == coverBuyer && name == "country":
			return coverNothing
		}
		return c
	case coverPayment:
		if name == "type" || name == "network" {
			return coverNothing
		}
		return coverPayment
	case coverRefused:
		if name == "value" {
			return coverAll
		}
	}
	switch {
	case isBuyerField(name):
		return coverBuyer
	case name == "paymentmethod" || name == "payment":
		return coverPayment
	case name == "fields":
		return coverRefused
	case isSecretField(name):
		return coverAll
	case isPersonalField(name):
		return coverPersonal
	}
	return c
}

// fieldName makes names of all styles equal: vaultToken, vault_token, vault%5Ftoken.
func fieldName(key string) string {
	if strings.ContainsAny(key, `%\`) {
		key, _ = decodeOnce(key)
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// SecretField reports whether a field, or what is within it, is never shown.
func SecretField(key string) bool { return isSecretField(fieldName(key)) }

func isBuyerField(name string) bool {
	return slices.Contains([]string{"buyer", "customer", "recipient", "contact", "shippingaddress", "billingaddress", "address"}, name)
}

func isPersonalField(name string) bool {
	return slices.Contains([]string{"firstname", "lastname", "fullname", "email", "phone", "phonenumber",
		"address1", "address2", "postalcode", "zip", "zipcode"}, name)
}

func isSecretField(name string) bool {
	secrets := []string{"token", "secret", "signature", "passw", "passphrase", "apikey", "authorization", "credential", "cookie", "session",
		"bearer", "hmac", "cvc", "cvv", "cardnumber"}
	return name == "stack" || name == "key" || slices.ContainsFunc(secrets, func(part string) bool { return strings.Contains(name, part) })
}

// shortestSecret is the least length of a secret that is looked for in other values:
// shorter ones would be found in words.
const shortestSecret = 6

// secretsIn gathers the texts within v that are named like secrets.
func secretsIn(v gjson.Result, secret bool, all []string) []string {
	v.ForEach(func(key, value gjson.Result) bool {
		secret := secret || SecretField(key.Str)
		switch {
		case value.IsObject() || value.IsArray():
			all = secretsIn(value, secret, all)
		case secret && value.Type == gjson.String && len(value.Str) >= shortestSecret:
			all = append(all, value.Str)
		}
		return true
	})
	return all
}

// paymentTokens gathers the tokens within v: messages of failures may repeat
// them.
func paymentTokens(v gjson.Result, paying bool, tokens []string) []string {
	visit := func(key, value gjson.Result) bool {
		name := fieldName(key.Str)
		switch {
		case value.IsObject() || value.IsArray():
			tokens = paymentTokens(value, paying || name == "paymentmethod" || name == "payment", tokens)
		case paying && value.Type == gjson.String && strings.Contains(name, "token") && len(value.Str) >= shortestSecret:
			tokens = append(tokens, value.Str)
		}
		return true
	}
	if v.IsObject() || v.IsArray() {
		v.ForEach(visit)
	}
	return tokens
}

// escapeUnsafe writes what [Scrub] would not keep as JSON escapes. In JSON such
// characters can only stand within strings, line breaks and tabs aside, which
// the masker does not copy.
func escapeUnsafe(text []byte) []byte {
	if clean(string(text)) == string(text) {
		return text
	}
	var out bytes.Buffer
	out.Grow(len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\ufffd`)
		case fate(r) == keep && stacked(0, r) == 0:
			out.Write(text[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out.Bytes()
}
