package command

import (
	"errors"
	"testing"
)

func TestJoiningErrorsLosesNone(t *testing.T) {
	plain, wrong := errors.New("plain"), usagef("wrong")
	for _, c := range []struct {
		name string
		errs []error
		text string
		code int
	}{
		{"none", []error{nil, nil}, "", exitDone},
		{"one without an exit code", []error{plain}, "plain", exitFailed},
		{"one with an exit code", []error{wrong}, "wrong", exitUsage},
		{"both", []error{plain, wrong}, "plain\nwrong", exitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := joinErrors(c.errs...)
			text, code := "", exitDone
			if err != nil {
				text, code = err.Error(), exitFailed
			}
			if exit := new(*exitError); errors.As(err, exit) {
				code = (*exit).code
			}
			if text != c.text || code != c.code {
				t.Errorf("%q with exit code %d, want %q with %d", text, code, c.text, c.code)
			}
		})
	}
}
