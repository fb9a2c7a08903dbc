package simulator

import (
	"net/http"
	"strings"

	"tillwatch/api"
)

// answer is the answer of an operation. Its body is encoded as JSON.
type answer struct {
	status     int
	body       any
	html       string // sent instead of the body unless ""
	retryAfter int    // seconds; 0: no Retry-After
	repeated   bool   // the answer to an earlier request with the same Idempotency-Key
}

func ok(body any) answer      { return answer{status: http.StatusOK, body: body} }
func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

// The refusals, with the bodies of the contract (contract, Errors).

func refused(status int, name, text string) answer {
	return answer{status: status, body: errorWire{name, text}}
}

func unauthorized(text string) answer {
	return refused(http.StatusUnauthorized, "AuthenticationError", text)
}

// wrongState refuses an operation that the state of an intent does not allow.
func wrongState(text string, state api.IntentState) answer {
	return answer{status: http.StatusConflict, body: stateErrorWire{"InvalidCheckoutIntentStateError", text, state}}
}

func notFound(text string) answer { return refused(http.StatusNotFound, "NotFoundError", text) }

// invalid is a validation error, with the empty message and the inner status 400 that the service's framework writes
// under HTTP 422.
func invalid(fields checker) answer {
	return answer{status: http.StatusUnprocessableEntity, body: validationWire{Name: "ValidateError", Status: http.StatusBadRequest, Fields: fields}}
}

func invalidField(name, text string) answer {
	return invalid(checker{name: {Message: text}})
}

// tooMany rejects a request that no retry soon helps: it carries no Retry-After.
func tooMany(text string) answer {
	return answer{status: http.StatusTooManyRequests, body: messageWire{text}}
}

// tooFast rejects a request that may be sent again after reset seconds.
func tooFast(reset int) answer {
	return answer{status: http.StatusTooManyRequests, body: messageWire{"Too many requests per second"}, retryAfter: reset}
}

// failed is the answer of an injected failure.
func failed(status int) answer {
	switch status {
	case http.StatusUnauthorized:
		return unauthorized("Invalid API key")
	case http.StatusNotFound:
		return notFound("Not found")
	case http.StatusUnprocessableEntity:
		return invalidField("body", "injected")
	case http.StatusTooManyRequests:
		return tooFast(1)
	case http.StatusInternalServerError:
		return refused(status, "RuntimeError", "Internal server error")
	}
	return refused(status, "RuntimeError", http.StatusText(status))
}

// listed lists names as people do.
func listed[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
