package signature

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// reading is one interpretation of a signature header, and the fault of its form.
type reading struct {
	sum Sum
	fault
}

// mostReadings bounds the interpretations of one header.
const mostReadings = 4

// readings returns the interpretations of a signature header's values.
func readings(values []string) (all []reading) {
	if len(values) == 1 {
		if s, ok := Parse(values[0]); ok {
			return []reading{{sum: s}}
		}
	}
	parts := strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool { return strings.ContainsRune(`, "'`, r) })
	for _, part := range parts[:min(len(parts), mostReadings)] {
		r, ok := readPart(part)
		if len(parts) > 1 {
			r.fault = fault{Repeated, "the header holds something beside the right signature: it carries exactly one"}
		}
		if ok {
			all = append(all, r)
		}
	}
	return all
}

var (
	inHex    = regexp.MustCompile(`^(.*?)([0-9a-fA-F]{64})$`)
	inBase64 = regexp.MustCompile(`^(?:.*?=)?([A-Za-z0-9+/_-]{43})=?$`)
)

func readPart(part string) (r reading, ok bool) {
	if m := inBase64.FindStringSubmatch(part); m != nil {
		_, err := base64.RawStdEncoding.Decode(r.sum[:], []byte(strings.NewReplacer("-", "+", "_", "/").Replace(m[1])))
		r.fault = fault{Base64, "the signature is in Base64: it has to be in lower-case hexadecimal digits behind " + Version}
		return r, err == nil
	}
	m := inHex.FindStringSubmatch(part)
	if m == nil {
		return r, false
	}
	_, err := hex.Decode(r.sum[:], []byte(m[2]))
	capitals := strings.ToLower(m[2]) != m[2]
	switch {
	case m[1] == "":
		r.fault = fault{Prefix, "the prefix " + Version + " of the signature is missing"}
	case m[1] != Version:
		r.fault = fault{Prefix, fmt.Sprintf("the prefix of the signature is %.20q, and not %s", m[1], Version)}
	case capitals:
		return reading{r.sum, fault{UpperCase, "the digits of the signature are in capitals: they have to be small letters"}}, err == nil
	default:
		r.fault = fault{Prefix, "there are blanks or quotes around the signature: it has to stand alone"}
	}
	if capitals {
		r.text += ", and its digits are in capitals"
	}
	return r, err == nil
}
