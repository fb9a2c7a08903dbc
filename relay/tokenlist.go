package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"tillwatch/api"
)

// tokenList is the stored form of issued tokens.
type tokenList struct {
	Tokens []Token `json:"tokens"`
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// decodeTokens reads a list that encodeTokens wrote.
func decodeTokens(text []byte) ([]Token, error) {
	var list tokenList
	text, err := api.FileText(text)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("there is more behind the list")
	}
	for _, token := range list.Tokens {
		if err := token.Check(); err != nil {
			return nil, fmt.Errorf("token %.64q: %w", token.Name, err)
		}
	}
	return list.Tokens, nil
}

func encodeTokens(tokens []Token) ([]byte, error) {
	text, err := json.MarshalIndent(tokenList{append([]Token{}, tokens...)}, "", "  ")
	return append(text, '\n'), err
}

// Check returns what is wrong with a token that is to be stored.
func (t Token) Check() error {
	if !tokenName.MatchString(t.Name) {
		return errors.New("a name has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit")
	}
	if t.Hash == (TokenHash{}) {
		return errors.New("its hash is missing")
	}
	names := make([]string, len(t.Scopes))
	for i, scope := range t.Scopes {
		names[i] = string(scope)
	}
	_, err := ParseScopes(names)
	return err
}

func namesOf(tokens []Token) string {
	if len(tokens) == 0 {
		return "none"
	}
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
