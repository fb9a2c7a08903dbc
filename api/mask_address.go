package api

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// userInfo matches what stands before the @ of an address, with or without a scheme. Line breaks may split it.
	userInfo = regexp.MustCompile(`(?://|(?:^|[\s"'(<=,;])[^\s/?#:@"']+:)([^ \t/?#]+)@`)
	// keys matches what has the shape of a key, of a secret of webhooks or of a payment token.
	keys = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])((?:sk|rk|tok)_[a-z0-9_-]{6,}|whsec_[a-z0-9_+/=-]{6,})`)
	// bearers matches what the word before it announces.
	bearers = regexp.MustCompile(`(?i)\bbearer\s+([^ \t]{6,})`)

	// escapes matches characters as addresses and JSON write them.
	escapes = regexp.MustCompile(`\+|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\["'\\/nrt]`)
)

// mostLevels is how often the encoding of a text is undone to look for secrets.
const mostLevels = 4

// MaskAddress masks, in an address or in a text that quotes one, the user
// information, whatever stands behind a name like a secret's, as [Masked] does with
// the fields of a body, and whatever looks like a key, however often it is encoded.
// The rest stays.
func MaskAddress(text Text) Text {
	if whole := maskAddress(string(text)); whole != string(text) {
		return Scrub(whole)
	}
	return text
}

func maskAddress(text string) string {
	secrets := secretsWithin(text, mostLevels)
	if len(secrets) == 0 {
		return text
	}
	slices.SortFunc(secrets, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	end := 0
	for _, s := range secrets {
		if s.from >= end {
			out.WriteString(text[end:s.from] + masked)
		}
		end = max(end, s.to)
	}
	return out.String() + text[end:]
}

// span is a part of a text.
type span struct{ from, to int }

// secretsWithin finds each secret by itself, so that none hides behind what looks like another, in a text as it is and as
// it is decoded: only on its own level of encoding does a secret end where it seems to.
func secretsWithin(text string, levels int) []span {
	found := namedSecrets(text)
	for _, shape := range []struct {
		needs   string // any of these: most texts have none
		pattern *regexp.Regexp
	}{{"@", userInfo}, {"_", keys}, {"Bb", bearers}} {
		if !strings.ContainsAny(text, shape.needs) {
			continue
		}
		for _, at := range shape.pattern.FindAllStringSubmatchIndex(text, -1) {
			found = append(found, span{at[2], at[3]})
		}
	}
	if levels == 0 || !strings.ContainsAny(text, `+%\`) {
		return found
	}
	plain, origin := decodeOnce(text)
	if plain != text {
		for _, s := range secretsWithin(plain, levels-1) {
			found = append(found, span{origin[s.from], origin[s.to]})
		}
	}
	return found
}

// decodeOnce undoes one level of the encoding of addresses and of JSON, and tells where each byte comes from.
func decodeOnce(text string) (plain string, origin []int) {
	var out strings.Builder
	end := 0
	put := func(decoded string, from, step int) {
		out.WriteString(decoded)
		for i := range len(decoded) {
			origin = append(origin, from+i*step)
		}
	}
	for _, at := range escapes.FindAllStringIndex(text, -1) {
		put(text[end:at[0]], end, 1)
		put(unescaped(text[at[0]:at[1]]), at[0], 0)
		end = at[1]
	}
	put(text[end:], end, 1)
	return out.String(), append(origin, len(text))
}

func unescaped(escape string) string {
	switch escape[1:] {
	case "":
		return " "
	case "n", "r":
		return "\n"
	case "t":
		return "\t"
	case `"`, `'`, `\`, "/":
		return escape[1:]
	}
	code, _ := strconv.ParseUint(strings.TrimLeft(escape, `%\u`), 16, 16) // the pattern has hexadecimal digits
	if code < 0x100 && escape[0] == '%' {
		return string([]byte{byte(code)})
	}
	return string(rune(code))
}

// namedSecrets finds the values behind names like a secret's: in queries, fragments, headers and JSON within the text.
func namedSecrets(text string) (found []span) {
	ends := map[string]int{} // where the value before ended, by what ends it
	for i := range len(text) {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		name := nameAtEnd(text[:i])
		if !isSecretField(name) {
			continue
		}
		value := valueAt(text[i+1:])
		from, until := len(text)-len(value), " \t"
		switch {
		case value == "":
			return found
		case value[0] == '"' || value[0] == '\'':
			from, until = from+1, value[:1]
		case strings.Contains(name, "authorization"), strings.Contains(name, "cookie"), value[0] == '{' || value[0] == '[':
			until = "" // several parts
		case text[i] == '=':
			until = " \t&#"
		}
		if strings.HasPrefix(text[from:], masked) {
			continue
		}
		if end, known := ends[until]; !known || end < from {
			ends[until] = from + valueLength(text[from:], until)
		}
		if ends[until] > from {
			found = append(found, span{from, ends[until]})
		}
	}
	return found
}

// nameAtEnd is the name that a text ends in.
func nameAtEnd(text string) string {
	const longest = 64
	text = strings.TrimRight(text[max(0, len(text)-longest):], "\"'`\\] \t\r\n")
	return fieldName(text[strings.LastIndexAny(text, "\"'`\\[]{}()<>|=:;,&?#/ \t\r\n")+1:])
}

// valueAt cuts what else stands before a value: more of the separator, blanks, and the scheme of a header.
func valueAt(text string) string {
	const blanks = " \t\r\n"
	text = strings.TrimLeft(text, "=:>"+blanks)
	for _, scheme := range []string{"basic", "bearer", "token"} {
		if n := len(scheme); len(text) > n && strings.EqualFold(text[:n], scheme) && strings.IndexByte(blanks, text[n]) >= 0 {
			return strings.TrimLeft(text[n:], blanks)
		}
	}
	return text
}

// valueLength is how much of a text is a value that any of some characters end. It may go on in the next line.
func valueLength(text, until string) int {
	i := 0
	for i < len(text) && strings.IndexByte(until, text[i]) < 0 {
		switch text[i] {
		case '\n', '\r':
			i = len(text) - len(strings.TrimLeft(text[i:], " \t\r\n"))
		case '\\': // may stand before a quote
			i = min(i+2, len(text))
		default:
			i++
		}
	}
	return i
}
