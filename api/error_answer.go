package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api/quota"
)

// answerError makes an [Error] of an answer that is not a success. Every body
// survives: an object as the contract has it, a bare string, HTML or nothing.
// The secrets are cut out of whatever the service echoes.
func answerError(c call, secrets []Secret, status int, header http.Header, body []byte, now time.Time) *Error {
	e := &Error{
		Method:    c.method,
		Path:      c.printable(),
		Status:    status,
		RequestID: requestID(header),
	}
	for _, bucket := range quota.ParseFields(header).Reports {
		if bucket.RemainingKnown && bucket.Remaining == 0 {
			e.Reset = max(e.Reset, bucket.Reset)
		}
	}
	e.RetryAfter, _ = quota.RetryAfter(header, now)
	e.decodeBody([]byte(cutOut(secrets, string(body)))) // before anything is cut: half a key is a secret too
	if status/100 == 3 && header.Get("Location") != "" && e.Message == "" {
		e.Message = "the base URL redirects, and redirects are not followed: set the address it leads to"
	}
	e.redact(secrets)
	return e
}

func (e *Error) decodeBody(body []byte) {
	if !json.Valid(body) {
		e.Message = plainMessage(string(body))
		return
	}
	v := gjson.ParseBytes(body)
	if v.Type == gjson.String {
		e.Message = plainMessage(v.Str)
		return
	}
	f := fieldsOf(v)
	e.Name, e.Message, e.State = textOf(f["name"]), textOf(f["message"]), IntentState(textOf(f["state"]))
	e.Fields = decodeFieldErrors(f["fields"])
	e.RetryAfter = cmp.Or(e.RetryAfter, seconds(string(textOrNumber(f["retryAfter"]))))
}

func decodeFieldErrors(v gjson.Result) []FieldError {
	const most = 256
	var fields []FieldError
	eachField(v, func(key string, v gjson.Result) {
		if len(fields) == most {
			return
		}
		field := FieldError{Field: Scrub(key), Message: textOf(v)}
		if v.IsObject() {
			field.Message = textOf(v.Get("message"))
			field.Value = refusedValue(key, v.Get("value"))
		}
		field.Message = withoutIssues(field.Message)
		fields = append(fields, field)
	})
	return fields
}

// refusedValue is what was refused in a field, masked by the names on the way to it:
// "body.buyer.phone".
func refusedValue(path string, v gjson.Result) Text {
	const longest = 200
	if !v.Exists() {
		return ""
	}
	c := coverNothing
	for name := range strings.SplitSeq(path, ".") {
		c = c.within(name)
	}
	m := masker{tokens: paymentTokens(v, c == coverPayment, nil)}
	return Scrub(cut(string(escapeUnsafe(m.append(nil, v, c, false))), longest))
}

// withoutIssues cuts what a failed union appends: nested JSON that repeats the
// refused values.
func withoutIssues(message Text) Text {
	before, _, _ := strings.Cut(string(message), "Issues:")
	return Text(strings.TrimSpace(before))
}

// plainMessage makes a message of a body that is not an object: the title of an HTML
// page, else the first line of a text.
func plainMessage(body string) Text {
	const longest = 200
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "<") {
		title := ""
		if found := htmlTitle.FindStringSubmatch(body); found != nil {
			title = found[1]
		}
		body = strings.Join(strings.Fields(title), " ")
	}
	line, _, _ := strings.Cut(body, "\n")
	return Scrub(cut(strings.TrimSpace(line), longest))
}

var htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)

// requestID finds the id that the provider's support asks for.
func requestID(header http.Header) Text {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Correlation-Id"} {
		if id := header.Get(name); id != "" {
			return Scrub(id)
		}
	}
	var found string
	for name, values := range header {
		if len(values) > 0 && strings.HasSuffix(strings.ToLower(name), "trace-id") && (found == "" || name < found) {
			found = name
		}
	}
	return Scrub(header.Get(found))
}

// seconds reads a number of seconds of at most a day; anything else is 0.
func seconds(s string) time.Duration {
	const day = 24 * 3600
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > day {
		return 0
	}
	return time.Duration(n) * time.Second
}

// redact removes the secrets from whatever the service echoed.
func (e *Error) redact(secrets []Secret) {
	clear := func(text Text) Text { return Text(cutOut(secrets, string(text))) }
	e.Name, e.Message, e.RequestID = clear(e.Name), clear(e.Message), clear(e.RequestID)
	e.State = IntentState(clear(Text(e.State)))
	for i, field := range e.Fields {
		e.Fields[i] = FieldError{Field: clear(field.Field), Message: clear(field.Message), Value: clear(field.Value)}
	}
}

// cutOut removes the secrets from a text.
func cutOut(secrets []Secret, text string) string {
	for _, secret := range secrets {
		if !secret.IsZero() {
			text = strings.ReplaceAll(text, secret.Reveal(), redacted)
		}
	}
	return text
}
