package account

import (
	"encoding/json"
	"fmt"

	"tillwatch/api"
)

// wordOf is the word of a state; the first where the state has none.
func wordOf[S ~uint8](state S, words ...string) string {
	if int(state) < len(words) {
		return words[state]
	}
	return words[0]
}

// stateOfWord is the state, of those up to the last, that a word stands for; the
// first where none does.
func stateOfWord[S interface {
	~uint8
	fmt.Stringer
}](word []byte, last S) S {
	for s := S(0); s <= last; s++ {
		if s.String() == string(word) {
			return s
		}
	}
	return 0
}

// The errors within a status stand in JSON as their texts.

type (
	plainFeedStatus FeedStatus
	plainAPIStatus  APIStatus
	plainListStatus ListStatus
)

// MarshalJSON writes the error as its text.
func (s FeedStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainFeedStatus(s), s.Err)
}

// UnmarshalJSON makes an error of its text.
func (s *FeedStatus) UnmarshalJSON(raw []byte) error {
	s.Err = api.ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainFeedStatus)(s))
}

// MarshalJSON writes the error as its text.
func (s APIStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainAPIStatus(s), s.Err)
}

// UnmarshalJSON makes an error of its text.
func (s *APIStatus) UnmarshalJSON(raw []byte) error {
	s.Err = api.ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainAPIStatus)(s))
}

// MarshalJSON writes the error as its text.
func (s ListStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainListStatus(s), s.Err)
}

// UnmarshalJSON makes an error of its text.
func (s *ListStatus) UnmarshalJSON(raw []byte) error {
	s.Err = api.ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainListStatus)(s))
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return string(api.Scrub(err.Error()))
}
