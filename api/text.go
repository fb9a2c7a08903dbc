package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is remote text that is safe to draw: without C0 and C1 controls, escape
// sequences, bidirectional controls and zero-width characters. Only [Scrub] and
// the decoders of this package make one from bytes that came from outside.
type Text string

// ID is the opaque identifier of a resource, scrubbed as [Text] is. Its form is
// never parsed: the service may put any character into it.
type ID string

// Nameable reports whether a path can name an id. Dots alone would be taken for a step in the
// tree, also when escaped.
func Nameable(id string) bool { return id != "" && id != "." && id != ".." }

// MaxText bounds a [Text], in bytes; what is longer ends in an ellipsis.
const MaxText = 4 << 10

// MaxID bounds an [ID], in bytes.
const MaxID = 2 << 10

const (
	ellipsis = "…"
	// Marks stacked higher than this paint over the neighbouring lines.
	maxMarks = 6
)

// FileText is the content of a file of text: UTF-8, without the byte order mark that some editors begin it with. Another
// encoding is refused.
func FileText(content []byte) ([]byte, error) {
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 { // as in UTF-16
		return nil, errors.New("it is not UTF-8 but in another encoding, such as UTF-16: save it as UTF-8")
	}
	return unmarked(content), nil
}

// SecretText is [FileText] for a secret, each of whose bytes counts: a mark is refused as well, because nobody can tell
// whether it belongs to the secret.
func SecretText(content []byte) ([]byte, error) {
	if text, err := FileText(content); err != nil || len(text) == len(content) {
		return text, err
	}
	return nil, errors.New("it begins with a byte order mark, which is not part of a secret: save it as UTF-8 without one")
}

// Scrub makes remote text safe to draw on one line. Clean text is returned as
// it is, without an allocation.
//
// Line breaks and tabs become a space. Controls, bidirectional controls,
// zero-width and other invisible characters are removed: what is left of an
// escape sequence is plain text. Invalid UTF-8, private-use characters and
// noncharacters become U+FFFD. At most [MaxText] bytes are kept.
func Scrub(s string) Text { return Text(bound(clean(s))) }

// ScrubID makes a remote identifier safe to draw. An identifier that had to be
// changed, or cut to [MaxID] bytes, ends in a hash of what it was, so that two
// different identifiers never become one.
func ScrubID(s string) ID {
	cleaned := clean(s)
	if cleaned == s && len(s) <= MaxID {
		return ID(s)
	}
	suffix := hashOf(s)
	return ID(cut(cleaned, MaxID-len(suffix)) + suffix)
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "~" + hex.EncodeToString(sum[:8])
}

var (
	surrogate      = regexp.MustCompile(`(?i)\\ud[89a-f]`)
	surrogatePairs = regexp.MustCompile(`(?i)\\ud[89ab]..\\ud[c-f]..`)
)

// IDText is the text of an id that JSON writes as raw. JSON can hold half of a surrogate pair, which no text can: an
// id with one ends in a hash of how it is written, so that two different identifiers never become one.
func IDText(text, raw string) string {
	if !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	halves := surrogatePairs.ReplaceAllString(strings.ReplaceAll(raw, `\\`, " "), " ")
	if !surrogate.MatchString(halves) {
		return text
	}
	return text + hashOf(strings.ToLower(raw)) // digits of either case write the same; text keeps the case of letters
}

func clean(s string) string {
	marks := maxMarks // a mark with nothing before it would join what is drawn left of it
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			i++
			marks = 0
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || fate(r) != keep {
			return rewrite(s)
		}
		if marks = stacked(marks, r); marks > maxMarks {
			return rewrite(s)
		}
		i += size
	}
	return s
}

func rewrite(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	marks := maxMarks
	put := func(r rune) {
		if marks = stacked(marks, r); marks > maxMarks {
			marks = maxMarks
			return
		}
		b.WriteRune(r)
	}
	for i, r := range s {
		switch fate(r) {
		case keep:
			put(r)
		case blank:
			if r == '\n' && i > 0 && s[i-1] == '\r' {
				continue // one line break, one space
			}
			put(' ')
		case replace:
			put(utf8.RuneError)
		}
	}
	return b.String()
}

func stacked(marks int, r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return marks + 1
	}
	return 0
}

type verdict int

const (
	keep verdict = iota
	drop
	blank
	replace
)

// fate decides what becomes of one character.
func fate(r rune) verdict {
	switch {
	case r >= ' ' && r < 0x7f:
		return keep
	case r == '\t' || r == '\n' || r == '\v' || r == '\f' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029:
		return blank
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return drop
	case r < 0xad:
		return keep
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return drop
	case invisible(r):
		return drop
	case unicode.Is(unicode.Co, r) || unicode.Is(unicode.Noncharacter_Code_Point, r):
		return replace
	}
	return keep
}

// invisible lists the characters outside the format category that draw nothing,
// or that change how wide a terminal takes their neighbour to be.
func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags, selectors and the reserved invisibles among them
		return true
	}
	return r == 0x2065 || r >= 0xfff0 && r <= 0xfff8
}

func bound(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return cut(s, MaxText-len(ellipsis)) + ellipsis
}

// cut shortens s to at most n bytes, at the edge of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
