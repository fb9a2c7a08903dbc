package signature

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"tillwatch/api"
)

const byteOrderMark = "\ufeff"

// secretForms returns the keys that people make of secrets by mistake. A sender may also
// take all lines of a rotation for one secret.
func secretForms(secrets []api.Secret) (forms []form) {
	var lines []string
	for _, s := range secrets {
		lines = append(lines, s.Reveal())
		forms = append(forms, formsOf(s.Reveal())...)
	}
	whole, said := strings.Join(lines, "\n"), fault{SecretSpace, "the sender takes all lines of the secrets for one secret: each line is one"}
	return append(forms, form{key: whole, fault: said}, form{key: whole + "\n", fault: said})
}

// formsOf returns the keys that people make of one secret, here and at the sender.
func formsOf(secret string) (forms []form) {
	add := func(cause Cause, text string, keys ...string) {
		for _, key := range keys {
			if key != "" && key != secret {
				forms = append(forms, form{key: key, fault: fault{cause, text}})
			}
		}
	}
	const blanks = " \t\r\n"
	add(SecretSpace, "the secret here has blanks or a line break around it: take them away", strings.Trim(secret, blanks))
	add(SecretSpace, "the secret here has quotes or a byte order mark around it: take them away",
		strings.Trim(secret, blanks+`"'`), strings.TrimPrefix(secret, byteOrderMark))
	add(SecretSpace, "the secret ends in a line break at the sender: take it away (printf %s instead of echo)",
		secret+"\n", secret+"\r\n", secret+"\r")
	add(SecretSpace, "the secret has blanks, quotes or a byte order mark around it at the sender: take them away",
		secret+" ", " "+secret, " "+secret+" ", secret+"\t", "\n"+secret, `"`+secret+`"`, "'"+secret+"'", byteOrderMark+secret)

	bare := secret[strings.LastIndexByte(secret, '_')+1:] // of whsec_…
	add(SecretEncoding, "the sender leaves out what the secret begins with, up to its _: the key is the whole text", bare)
	for _, text := range []string{secret, bare} {
		raw, _ := hex.DecodeString(text) // after an error a part, which fits nothing
		add(SecretEncoding, "the sender takes the secret for hexadecimal digits: the key is its text", string(raw))
		for _, in := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			raw, _ := in.DecodeString(strings.TrimRight(text, "="))
			add(SecretEncoding, "the sender takes the secret for Base64: the key is its text", string(raw))
		}
	}
	digits := hex.EncodeToString([]byte(secret))
	add(SecretEncoding, "the sender's secret is this one in hexadecimal digits: use it here as the account console shows it", digits, strings.ToUpper(digits))
	for _, in := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		add(SecretEncoding, "the sender's secret is this one in Base64: use it here as the account console shows it", in.EncodeToString([]byte(secret)))
	}
	add(SecretEncoding, "the sender has the secret in other letters, small or capital: the key is its text", strings.ToLower(secret), strings.ToUpper(secret))
	return forms
}
