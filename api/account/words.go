package account

import (
	"encoding/json"
	"fmt"

	"tillwatch/api"
)

// wordOf returns the word of a state; the first word if it has none.
func wordOf[S ~uint8](state S, words ...string) string {
	if int(state) < len(words) {
		return words[state]
	}
	return words[0]
}

// stateOfWord returns the state, up to last, whose word this is; the first if none is.
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

// Errors are texts in the JSON of a status.

type (
	plainFeedStatus FeedStatus
	plainAPIStatus  APIStatus
	plainListStatus ListStatus
)

// MarshalJSON writes the error as its text.
func (s FeedStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainFeedStatus(s), s.Err)
}

// UnmarshalJSON turns the text back into an error.
func (s *FeedStatus) UnmarshalJSON(raw []byte) error {
	s.Err = api.ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainFeedStatus)(s))
}

// MarshalJSON writes the error as its text.
func (s APIStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainAPIStatus(s), s.Err)
}

// UnmarshalJSON turns the text back into an error.
func (s *APIStatus) UnmarshalJSON(raw []byte) error {
	s.Err = api.ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainAPIStatus)(s))
}

// MarshalJSON writes the error as its text.
func (s ListStatus) MarshalJSON() ([]byte, error) {
	return api.MarshalWithError(plainListStatus(s), s.Err)
}

// UnmarshalJSON turns the text back into an error.
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
