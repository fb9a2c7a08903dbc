package command

import (
	"errors"
	"io/fs"
	"net"

	"tillwatch/api"
	"tillwatch/relay"
)

// explainableError is an error that tillwatch doctor explains further.
type explainableError struct{ error }

func (e explainableError) Unwrap() error { return e.error }

// explainable marks an error as one that tillwatch doctor explains further; nil stays
// nil.
func explainable(err error) error {
	if err == nil {
		return nil
	}
	return explainableError{err}
}

// saysMore reports whether tillwatch doctor explains an error further: errors of
// settings, refused keys and tokens, unreachable servers, and permissions.
func saysMore(err error) bool {
	var marked explainableError
	var refused *relay.RefusedError
	var away *net.OpError
	switch {
	case errors.As(err, &marked), errors.As(err, &refused), errors.Is(err, errUnauthorized), errors.Is(err, api.ErrUnauthorized), errors.Is(err, api.ErrForbidden):
		return true
	case errors.As(err, &away):
		return away.Op == "dial"
	}
	return errors.Is(err, fs.ErrPermission)
}
