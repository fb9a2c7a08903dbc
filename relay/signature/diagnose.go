package signature

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// Cause is why a signature is wrong, as a stable word.
type Cause string

// The causes.
const (
	Prefix         Cause = "prefix"          // another than v0=, or none
	HeaderEncoding Cause = "header_encoding" // the digits are in capitals or Base64
	Secret         Cause = "secret"          // another one, or something around it
	Rotation       Cause = "rotation"        // the other secret of a rotation
	Body           Cause = "body"            // rewritten or changed after it was signed
	Timestamp      Cause = "timestamp"       // signed with the body, or far from now
	Missing        Cause = "missing"         // there is no signature
	Unknown        Cause = "unknown"
)

// Delivery is what arrived, with the secrets and the time to judge it by.
type Delivery struct {
	Body    []byte
	Header  http.Header
	Prefix  string       // of the contract's headers, such as x-svc-
	Secrets []api.Secret // the valid ones: all of a rotation, the newest first
	Others  []Other      // other known secrets, which are not valid here
	Now     time.Time
}

// Other is a known secret that is not valid here.
type Other struct {
	Secret api.Secret
	Cause  Cause  // Rotation or Secret
	Whose  string // whose it is, in words: the profile "live"
}

// Diagnosis is the result of [Diagnose].
type Diagnosis struct {
	Valid  bool   `json:"valid"`           // the signature is right; Cause may still warn
	Cause  Cause  `json:"cause,omitempty"` // "": all is well
	Text   string `json:"text,omitempty"`  // the cause in one line; "": all is well
	Proven bool   `json:"proven"`          // without the fault the signature fits; nobody can fake that without the secret
}

// form is a key and a body that may have been signed, and the fault if they were.
type form struct {
	key  string
	body []byte
	Diagnosis
}

// Diagnose says why the signature of a delivery is wrong: it undoes one likely fault after another
// until the signature fits. It finds one fault of the body or the secret, and one of the header.
func Diagnose(d Delivery) Diagnosis {
	name := d.Prefix + "signature"
	given, header, ok := read(strings.Join(d.Header.Values(name), ","))
	if !ok {
		return Diagnosis{Cause: Missing, Text: "there is no " + name + " header of " + Version + " and 64 hexadecimal digits"}
	}
	for _, f := range d.forms() {
		if made := sum(f.key, f.body); !hmac.Equal(made[:], given[:]) {
			continue
		}
		switch {
		case header.Cause != "" && f.Cause != "":
			header.Text += "; besides, " + f.Text
			return header
		case header.Cause != "":
			return header
		case f.Cause == "":
			return d.onTime()
		}
		return f.Diagnosis
	}
	return Diagnosis{Cause: Unknown, Text: "probably another secret, or another body: nothing that was tried fits"}
}

// read returns the signature in a header's value, and the fault of its form.
func read(value string) (s Sum, f Diagnosis, ok bool) {
	if s, ok = Parse(value); ok {
		return s, f, true
	}
	text := strings.Trim(value, " \t\"'")
	at := max(len(text)-hex.EncodedLen(len(s)), 0)
	before, digits := text[:at], text[at:]
	if n, err := hex.Decode(s[:], []byte(digits)); err == nil && n == len(s) {
		f = Diagnosis{Cause: Prefix, Text: "around the signature stands more than " + Version + ", or less", Proven: true}
		if before == Version && digits != strings.ToLower(digits) {
			f.Cause, f.Text = HeaderEncoding, "the digits of the signature are in capitals, not in small letters"
		}
		return s, f, true
	}
	bare := strings.TrimRight(text, "=")
	bare = strings.NewReplacer("-", "+", "_", "/").Replace(bare[strings.LastIndexByte(bare, '=')+1:])
	raw, err := base64.RawStdEncoding.DecodeString(bare)
	copy(s[:], raw)
	f = Diagnosis{Cause: HeaderEncoding, Text: "the signature is in Base64, not in hexadecimal digits", Proven: true}
	return s, f, err == nil && len(raw) == len(s)
}

const mark = "\ufeff" // of the byte order

// forms returns what may have been signed, the likeliest first. The correct form has no cause.
func (d *Delivery) forms() (all []form) {
	add := func(body []byte, cause Cause, text string, keys ...string) {
		for _, key := range keys {
			if key != "" {
				all = append(all, form{key, body, Diagnosis{Cause: cause, Text: text, Proven: true}})
			}
		}
	}
	var lines []string
	for i, s := range d.Secrets {
		f := form{s.Reveal(), d.Body, Diagnosis{Valid: true}}
		if lines = append(lines, f.key); i > 0 {
			f.Cause, f.Proven = Rotation, true
			f.Text = fmt.Sprintf("signed with secret %d of %d: whoever knows only the first refuses it", i+1, len(d.Secrets))
		}
		all = append(all, f)
	}
	for _, o := range d.Others {
		add(d.Body, o.Cause, "signed with the secret of "+o.Whose, o.Secret.Reveal())
	}
	whole := strings.Join(lines, "\n")
	for _, key := range lines {
		add(d.Body, Secret, "the secret has a line break, blanks or quotes around it, here or at the sender: take them away",
			strings.Trim(key, " \t\r\n\"'"+mark), key+"\n", key+"\r\n", key+" ", " "+key, `"`+key+`"`, "'"+key+"'")
		bare := key[strings.LastIndexByte(key, '_')+1:]
		raw, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(bare, "=")) // after an error a part: it fits nothing
		add(d.Body, Secret, "the sender takes a part of the secret, decodes it, or takes two for one: the key is the whole line",
			bare, string(raw), whole, whole+"\n")
	}
	changed := func(text string, bodies ...[]byte) {
		for _, body := range bodies {
			add(body, Body, text, lines...)
		}
	}
	changed("the sender signs an empty body, before it is there or after something has read it", nil)
	unix := bytes.ReplaceAll(d.Body, []byte("\r\n"), []byte("\n"))
	changed("line breaks, blanks or a byte order mark came or went after the body was signed: hand the raw bytes on",
		bytes.TrimSpace(bytes.TrimPrefix(d.Body, []byte(mark))), unix, bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n")),
		append(bytes.Clone(d.Body), '\n'), append(bytes.Clone(d.Body), "\r\n"...), append([]byte(mark), d.Body...))
	if compact := new(bytes.Buffer); json.Compact(compact, d.Body) == nil {
		changed("the JSON was parsed and written again: keep the bytes from before that", compact.Bytes())
	}
	at := d.Header.Get(d.Prefix + "timestamp")
	for _, before := range []string{at + ".", "v0:" + at + ":", d.Header.Get(d.Prefix+"event-id") + "." + at + "."} {
		signed := append([]byte(before), d.Body...)
		add(signed, Timestamp, "the sender signs the timestamp, too: the signature is of the raw body alone", lines...)
	}
	return all
}

// onTime returns the diagnosis of a correct signature: only the timestamp may be wrong.
func (d *Delivery) onTime() Diagnosis {
	given := d.Header.Get(d.Prefix + "timestamp")
	seconds, err := strconv.ParseInt(given, 10, 64)
	apart, text := d.Now.Sub(time.Unix(seconds, 0)), ""
	switch {
	case given == "", err == nil && apart.Abs() <= 5*time.Minute:
		return Diagnosis{Valid: true}
	case err != nil, apart.Abs() == math.MaxInt64: // centuries: these are no seconds, but milliseconds, say
		text = fmt.Sprintf("the timestamp cannot be read: %.40q is not a Unix time in seconds", given)
	case apart > 0:
		text = "the timestamp is " + api.Span(apart) + " behind this clock: some receivers refuse such a delivery"
	default:
		text = "the timestamp is " + api.Span(-apart) + " ahead of this clock: some receivers refuse such a delivery"
	}
	return Diagnosis{Valid: true, Cause: Timestamp, Text: text}
}
