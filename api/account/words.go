package account

import (
	"encoding/json"
	"errors"
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

type plainFeedStatus FeedStatus

// MarshalJSON writes the error as its text.
func (s FeedStatus) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainFeedStatus
		Error string `json:"error,omitempty"`
	}{plainFeedStatus(s), errorText(s.Err)})
}

// UnmarshalJSON makes an error of its text.
func (s *FeedStatus) UnmarshalJSON(raw []byte) error {
	told := struct {
		*plainFeedStatus
		Error string `json:"error"`
	}{plainFeedStatus: (*plainFeedStatus)(s)}
	err := json.Unmarshal(raw, &told)
	s.Err = errorOf(told.Error)
	return err
}

type plainAPIStatus APIStatus

// MarshalJSON writes the error as its text.
func (s APIStatus) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainAPIStatus
		Error string `json:"error,omitempty"`
	}{plainAPIStatus(s), errorText(s.Err)})
}

// UnmarshalJSON makes an error of its text.
func (s *APIStatus) UnmarshalJSON(raw []byte) error {
	told := struct {
		*plainAPIStatus
		Error string `json:"error"`
	}{plainAPIStatus: (*plainAPIStatus)(s)}
	err := json.Unmarshal(raw, &told)
	s.Err = errorOf(told.Error)
	return err
}

type plainListStatus ListStatus

// MarshalJSON writes the error as its text.
func (s ListStatus) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainListStatus
		Error string `json:"error,omitempty"`
	}{plainListStatus(s), errorText(s.Err)})
}

// UnmarshalJSON makes an error of its text.
func (s *ListStatus) UnmarshalJSON(raw []byte) error {
	told := struct {
		*plainListStatus
		Error string `json:"error"`
	}{plainListStatus: (*plainListStatus)(s)}
	err := json.Unmarshal(raw, &told)
	s.Err = errorOf(told.Error)
	return err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return string(api.Scrub(err.Error()))
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(string(api.Scrub(text)))
}
