package signature

import (
	"cmp"
	"crypto/hmac"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tillwatch/api"
)

// Cause is why a signature is wrong, in a word that stays.
type Cause string

// The causes. Those that are not proven are last: no trial can show them.
const (
	Prefix          Cause = "prefix"            // another than v0=, or none
	UpperCase       Cause = "upper_case"        // digits
	Base64          Cause = "base64"            // digits
	Repeated        Cause = "repeated"          // several signatures, the right one among them
	SecretSpace     Cause = "secret_space"      // around it: a line break, blanks, quotes
	SecretEncoding  Cause = "secret_encoding"   // it is used in hexadecimal digits or Base64, not as text
	OldSecret       Cause = "rotation"          // the other secret of a rotation
	OtherSecret     Cause = "other_environment" // the secret of elsewhere
	Rewritten       Cause = "rewritten"         // the JSON was parsed and written again
	LineBreaks      Cause = "line_breaks"       // the body's were changed
	Encoding        Cause = "encoding"          // the body's was changed
	ByteOrderMark   Cause = "byte_order_mark"   // it was added or taken off
	Compressed      Cause = "compressed"        // or decompressed on the way
	EmptyBody       Cause = "empty_body"        // was signed, or arrived
	SignedTimestamp Cause = "signed_timestamp"  // more was signed than the body
	Missing         Cause = "missing"           // there is no signature
	Clock           Cause = "clock"             // the timestamp is far from now
	Unknown         Cause = "unknown"
)

// Causes lists them.
func Causes() []Cause {
	return []Cause{Prefix, UpperCase, Base64, Repeated, SecretSpace, SecretEncoding, OldSecret, OtherSecret, Rewritten,
		LineBreaks, Encoding, ByteOrderMark, Compressed, EmptyBody, SignedTimestamp, Missing, Clock, Unknown}
}

const (
	// DefaultEffort bounds a diagnosis to some 30 ms.
	DefaultEffort = 4 << 20
	// clockSlack is how far a timestamp may be from now.
	clockSlack = 5 * time.Minute
)

// Delivery is what arrived, and what is known here to judge it by.
type Delivery struct {
	Body    []byte
	Header  http.Header
	Prefix  string       // of the contract's headers, as in x-svc-
	Secrets []api.Secret // that count: all of a rotation, the newest first
	Others  []Other      // that do not count
	Now     time.Time
	Effort  int // bytes that may be hashed or written; 0: [DefaultEffort]
}

// Other is a secret that does not count, and why.
type Other struct {
	Secret api.Secret
	Cause  Cause  // OldSecret or OtherSecret
	Whose  string // as in: the profile "live"
}

// Diagnosis is what was found.
type Diagnosis struct {
	Valid  bool   `json:"valid"`           // the signature is right; Cause may still warn
	Cause  Cause  `json:"cause,omitempty"` // "": all is well
	Text   string `json:"text,omitempty"`  // in one line; "": all is well
	Proven bool   `json:"proven"`          // with this undone the signature fits. Nobody who does not know the secret can feign that
}

// Diagnose names why the signature of a delivery is wrong, by undoing one likely
// fault after another until it fits. It finds one fault, and beside it one of the
// header's; of a signature that no secret here can have made it only says so.
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

// fault is something that may have gone wrong, told in words.
type fault struct {
	cause Cause
	text  string
}

// form is what may have been signed, and the fault if it was.
type form struct {
	key  string
	body []byte
	fault
	style style // of a body that was written again
}

// trial is a diagnosis under way.
type trial struct {
	Delivery
	left int // bytes that may still be spent
}

// sum signs a form, as long as there are bytes for it and for what an attempt costs
// beside them.
func (t *trial) sum(f form) (s Sum, ok bool) {
	if t.left -= len(f.body) + 512; t.left < 0 {
		return s, false
	}
	return sum(f.key, f.body), true
}

// forms are what may have been signed, the likeliest first: what is as it should be
// has no cause.
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

// signedMore is what other services sign beside the body.
func (t *trial) signedMore() (forms []form) {
	at, id := t.Header.Get(t.Prefix+"timestamp"), t.Header.Get(t.Prefix+"event-id")
	for _, before := range [][2]string{{"v0:" + at + ":", "Slack"}, {at + ".", "Stripe"}, {id + "." + at + ".", "Standard Webhooks"}} {
		forms = append(forms, form{body: append([]byte(before[0]), t.Body...),
			fault: fault{SignedTimestamp, "the sender signs the timestamp with the body, as " + before[1] + " does: the signature is of the raw body alone"}})
	}
	return forms
}

// proven is the diagnosis where a form fits a reading of the header.
func (t *trial) proven(f form, r reading) Diagnosis {
	if f.cause == Rewritten && f.text == "" {
		f.text = f.style.against(t.Body)
	}
	if f.cause == "" {
		f.fault = r.fault
	} else if r.cause != "" {
		f.text += "; besides, " + r.text
	}
	valid := r.cause == "" && (f.cause == "" || f.cause == OldSecret && t.counts(f.key))
	if f.cause == "" {
		return t.onTime()
	}
	return Diagnosis{Valid: valid, Cause: f.cause, Text: f.text, Proven: true}
}

// onTime is the diagnosis of a signature that is as it should be: what is left to go
// wrong is the timestamp.
func (t *trial) onTime() Diagnosis {
	d := Diagnosis{Valid: true}
	if off, is := t.clockOff(); is {
		d.Cause, d.Text = Clock, off+": a receiver that refuses old deliveries refuses this one"
	} else if given := t.Header.Get(t.Prefix + "timestamp"); off == "" && given != "" {
		d.Cause, d.Text = Clock, fmt.Sprintf("the timestamp cannot be read: %.40q is no Unix time in seconds, such as %d", given, t.Now.Unix())
	}
	return d
}

func (t *trial) counts(key string) bool {
	return slices.ContainsFunc(t.Secrets, func(s api.Secret) bool { return s.Reveal() == key })
}

// unproven is what can be said when nothing that was tried fits.
func (t *trial) unproven() Diagnosis {
	encoding := t.Header.Get("Content-Encoding")
	off, isOff := t.clockOff()
	switch {
	case len(t.Body) == 0:
		return Diagnosis{Cause: EmptyBody, Text: "the body is empty: something has read it before the signature was checked, or it was never sent"}
	case (encoding == "gzip" || encoding == "deflate" || encoding == "br" || encoding == "zstd") && !isGzip(t.Body):
		return Diagnosis{Cause: Compressed, Text: "the header says Content-Encoding: " + encoding + ", and the body is not: a proxy has probably decompressed what was signed"}
	case isOff:
		return Diagnosis{Cause: Clock, Text: off + ", and nothing that was tried fits: perhaps it is an old delivery, signed with a secret that is gone"}
	case t.left < 0:
		return Diagnosis{Cause: Unknown, Text: "the secret is probably another one: nothing that was tried fits, and the body is too large to try all"}
	}
	return Diagnosis{Cause: Unknown, Text: "the secret is probably another one, or the content was changed: nothing that was tried fits"}
}

// clockOff tells how far the timestamp is from now, "" where there is none that can be
// read, and whether that is too far.
func (t *trial) clockOff() (words string, off bool) {
	seconds, err := strconv.ParseInt(t.Header.Get(t.Prefix+"timestamp"), 10, 64)
	if err != nil {
		return "", false
	}
	apart, way := t.Now.Sub(time.Unix(seconds, 0)), "behind"
	if apart < 0 {
		apart, way = -apart, "ahead of"
	}
	return fmt.Sprintf("the timestamp is %s %s this clock", api.Span(apart), way), apart > clockSlack
}
