package api

import (
	"strings"

	"github.com/tidwall/gjson"
)

// PaymentMethod names the kind of payment. Token is a live token: it is masked
// by its type and never drawn.
type PaymentMethod struct {
	Type  PaymentType `json:"type,omitzero"`
	Token Secret      `json:"-"` // zero when the kind has none
}

// PaymentType is an open set; the contract names two.
type PaymentType string

// The payment kinds of the contract.
const (
	VaultToken PaymentType = "vault_token"
	Drawdown   PaymentType = "drawdown"
)

// tokenField is the field that carries the token of a payment kind: "vaultToken"
// for vault_token, by the pattern that public clients follow. A kind that is not
// named after a token has none.
func (t PaymentType) tokenField() string {
	if !strings.HasSuffix(string(t), "_token") {
		return ""
	}
	words := strings.Split(string(t), "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// decodePayment keeps the type, and as the token the field that belongs to it
// or, failing that, any field that is named like a token.
func decodePayment(v gjson.Result) *PaymentMethod {
	if !v.IsObject() {
		return nil
	}
	payment := &PaymentMethod{Type: PaymentType(textOf(fieldsOf(v)["type"]))}
	own := payment.Type.tokenField()
	eachField(v, func(key string, v gjson.Result) {
		if key == "type" || v.Type != gjson.String || v.Str == "" {
			return
		}
		if key == own || payment.Token.IsZero() && strings.HasSuffix(strings.ToLower(key), "token") {
			payment.Token = NewSecret(v.Str)
		}
	})
	return payment
}
