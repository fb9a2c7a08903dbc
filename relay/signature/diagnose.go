package signature

import (
	"cmp"
	"crypto/hmac"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"tillwatch/api"
)

// Cause is why a signature is wrong, as a stable word.
type Cause string

// The causes, in the order of their trials. The last ones cannot be proven by a trial.
const (
	Prefix          Cause = "prefix"            // another than v0=, or none
	UpperCase       Cause = "upper_case"        // hexadecimal digits
	Base64          Cause = "base64"            // instead of hexadecimal digits
	Repeated        Cause = "repeated"          // the right signature beside something else
	SecretSpace     Cause = "secret_space"      // around it: a line break, blanks, quotes
	SecretEncoding  Cause = "secret_encoding"   // it is used in hexadecimal digits or Base64, not as text
	OldSecret       Cause = "rotation"          // the other secret of a rotation
	OtherSecret     Cause = "other_environment" // the secret of another environment
	Rewritten       Cause = "rewritten"         // the JSON was parsed and written again
	LineBreaks      Cause = "line_breaks"       // changed in the body
	Encoding        Cause = "encoding"          // of the body's text, changed
	ByteOrderMark   Cause = "byte_order_mark"   // added to or removed from the body
	Compressed      Cause = "compressed"        // the body was compressed or decompressed on the way
	EmptyBody       Cause = "empty_body"        // an empty body was signed, or arrived
	SignedTimestamp Cause = "signed_timestamp"  // the timestamp was signed with the body
	Missing         Cause = "missing"           // there is no signature
	Clock           Cause = "clock"             // the signature is right, and the timestamp far from now
	Unknown         Cause = "unknown"
)

// Causes lists all causes.
func Causes() []Cause {
	return []Cause{Prefix, UpperCase, Base64, Repeated, SecretSpace, SecretEncoding, OldSecret, OtherSecret, Rewritten,
		LineBreaks, Encoding, ByteOrderMark, Compressed, EmptyBody, SignedTimestamp, Missing, Clock, Unknown}
}

const (
	// DefaultEffort limits a diagnosis to about 30 ms.
	DefaultEffort = 4 << 20
	// clockSlack is the tolerated difference between a timestamp and now.
	clockSlack = 5 * time.Minute
)

// Delivery is what arrived, with the secrets and the time to judge it by.
type Delivery struct {
	Body    []byte
	Header  http.Header
	Prefix  string       // of the contract's headers, such as x-svc-
	Secrets []api.Secret // the valid ones: all of a rotation, the newest first
	Others  []Other      // other known secrets, which are not valid here
	Now     time.Time
	Effort  int // the bytes that may be hashed or written; 0: [DefaultEffort]
}

// Other is a known secret that is not valid here.
type Other struct {
	Secret api.Secret
	Cause  Cause  // OldSecret or OtherSecret
	Whose  string // whose it is, in words: the profile "live"
}

// Diagnosis is the result of [Diagnose].
type Diagnosis struct {
	Valid  bool   `json:"valid"`           // the signature is right; Cause may still warn
	Cause  Cause  `json:"cause,omitempty"` // "": all is well
	Text   string `json:"text,omitempty"`  // the cause in one line; "": all is well
	Proven bool   `json:"proven"`          // without the fault the signature fits; nobody can fake that without the secret
}

// Diagnose says why the signature of a delivery is wrong: it undoes one likely fault
// after another until the signature fits. It finds one fault of the body or the secret,
// and one of the header beside it. If no known secret can have made the signature, it
// says only that.
func Diagnose(d Delivery) Diagnosis {
	values := d.Header.Values(d.Prefix + "signature")
	if len(values) == 0 {
		return Diagnosis{Cause: Missing, Text: "there is no " + d.Prefix + "signature header: a proxy took it off, or it is not from the service"}
	}
	given := readings(values)
	if len(given) == 0 {
		return Diagnosis{Cause: Missing, Text: "the " + d.Prefix + "signature header holds no signature: behind " + Version + " come 64 hexadecimal digits"}
	}
	t := &trial{Delivery: d, left: cmp.Or(d.Effort, DefaultEffort)}
	for f := range t.forms {
		made, ok := t.sum(f)
		if !ok {
			break
		}
		for _, r := range given {
			if hmac.Equal(made[:], r.sum[:]) {
				return t.proven(f, r)
			}
		}
	}
	return t.unproven()
}

// fault is a cause with its description.
type fault struct {
	cause Cause
	text  string
}

// form is a key and a body that may have been signed, and the fault if they were.
type form struct {
	key  string
	body []byte
	fault
	style style // of a rewritten body
}

// trial is a diagnosis under way.
type trial struct {
	Delivery
	left int // the bytes that may still be hashed or written
}

// sum signs a form; ok is false once the effort is used up. Each trial costs 512 bytes
// beside the body.
func (t *trial) sum(f form) (s Sum, ok bool) {
	if t.left -= len(f.body) + 512; t.left < 0 {
		return s, false
	}
	return sum(f.key, f.body), true
}

// forms yields what may have been signed, the likeliest first. The correct form has no
// cause.
func (t *trial) forms(yield func(form) bool) {
	var all []form
	for i, s := range t.Secrets {
		f := form{key: s.Reveal(), body: t.Body}
		if i > 0 {
			f.fault = fault{OldSecret, fmt.Sprintf("it was signed with secret %d of the %d that are configured: whoever knows only the first refuses it", i+1, len(t.Secrets))}
		}
		all = append(all, f)
	}
	for _, o := range t.Others {
		all = append(all, form{key: o.Secret.Reveal(), body: t.Body, fault: fault{o.Cause, "signed with the secret of " + o.Whose}})
	}
	for _, f := range secretForms(t.Secrets) {
		f.body = t.Body
		all = append(all, f)
	}
	for _, f := range append(bodyForms(t.Body), t.signedMore()...) {
		for _, s := range t.Secrets {
			f.key = s.Reveal()
			all = append(all, f)
		}
	}
	for _, f := range all {
		if !yield(f) {
			return
		}
	}
	for signed := range rewritings(t.Body) {
		for _, s := range t.Secrets {
			signed.key = s.Reveal()
			if !yield(signed) {
				return
			}
		}
	}
}

// signedMore returns forms that sign the timestamp, too, as other services do.
func (t *trial) signedMore() (forms []form) {
	at, id := t.Header.Get(t.Prefix+"timestamp"), t.Header.Get(t.Prefix+"event-id")
	for _, before := range [][2]string{{"v0:" + at + ":", "Slack"}, {at + ".", "Stripe"}, {id + "." + at + ".", "Standard Webhooks"}} {
		forms = append(forms, form{body: append([]byte(before[0]), t.Body...),
			fault: fault{SignedTimestamp, "the sender signs the timestamp with the body, as " + before[1] + " does: the signature is of the raw body alone"}})
	}
	return forms
}

// proven returns the diagnosis when a form fits a reading of the header.
func (t *trial) proven(f form, r reading) Diagnosis {
	if f.cause == Rewritten && f.text == "" {
		f.text = f.style.against(t.Body)
	}
	switch {
	case f.cause == "" && r.cause == "":
		return t.onTime()
	case f.cause == "":
		f.fault = r.fault
	case r.cause != "":
		f.text += "; besides, " + r.text
	}
	valid := f.cause == OldSecret && r.cause == "" && t.counts(f.key)
	return Diagnosis{Valid: valid, Cause: f.cause, Text: f.text, Proven: true}
}

// onTime returns the diagnosis of a correct signature: only the timestamp may be wrong.
func (t *trial) onTime() Diagnosis {
	d := Diagnosis{Valid: true}
	if off, wrong := t.clockOff(); wrong {
		d.Cause, d.Text = Clock, off+": a receiver that refuses old deliveries refuses this one"
	} else if given := t.Header.Get(t.Prefix + "timestamp"); off == "" && given != "" {
		d.Cause, d.Text = Clock, fmt.Sprintf("the timestamp cannot be read: %.40q is not a Unix time in seconds, such as %d", given, t.Now.Unix())
	}
	return d
}

func (t *trial) counts(key string) bool {
	return slices.ContainsFunc(t.Secrets, func(s api.Secret) bool { return s.Reveal() == key })
}

// unproven returns the likeliest diagnosis when no form fits.
func (t *trial) unproven() Diagnosis {
	encoding := t.Header.Get("Content-Encoding")
	besides := "" // the timestamp is not signed: it makes no signature wrong
	if off, wrong := t.clockOff(); wrong {
		besides = "; besides, " + off
	}
	switch {
	case len(t.Body) == 0:
		return Diagnosis{Cause: EmptyBody, Text: "the body is empty: something has read it before the signature was checked, or it was never sent"}
	case Compresses(encoding) && !utf8.Valid(t.Body) && !isGzip(t.Body):
		return Diagnosis{Cause: Compressed, Text: "the body arrived compressed (Content-Encoding: " + encoding + "), and was probably signed before that: have it sent as it was signed"}
	case Compresses(encoding) && !isGzip(t.Body):
		return Diagnosis{Cause: Compressed, Text: "the header says Content-Encoding: " + encoding + ", and the body is not: a proxy has probably decompressed what was signed"}
	case t.left < 0:
		return Diagnosis{Cause: Unknown, Text: "the secret is probably another one: nothing that was tried fits, and the body is too large to try all" + besides}
	}
	return Diagnosis{Cause: Unknown, Text: "the secret is probably another one, or the content was changed: nothing that was tried fits" + besides}
}

// Compresses reports whether a Content-Encoding names a compression.
func Compresses(encoding string) bool {
	return slices.Contains([]string{"gzip", "deflate", "br", "zstd"}, encoding)
}

// clockOff says how far the timestamp is from now, "" if there is none or it cannot be
// read; wrong is true if that is too far.
func (t *trial) clockOff() (words string, wrong bool) {
	seconds, err := strconv.ParseInt(t.Header.Get(t.Prefix+"timestamp"), 10, 64)
	if err != nil {
		return "", false
	}
	apart, way := t.Now.Sub(time.Unix(seconds, 0)), "behind"
	if apart < 0 {
		apart, way = apart.Abs(), "ahead of"
	}
	if apart == math.MaxInt64 {
		return "", false // centuries: these are no seconds, but milliseconds, say
	}
	return fmt.Sprintf("the timestamp is %s %s this clock", api.Span(apart), way), apart > clockSlack
}
