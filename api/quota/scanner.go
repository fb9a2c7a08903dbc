package quota

import (
	"encoding/base64"
	"strings"
)

// scanMembers reads the shapes that services send,
//
//	"name";q=10;w=1;qu="requests";pk=:a2V5:
//
// without the cost of the general parser. It says no, and proves nothing, at
// anything else: escapes, inner lists, signs, fractions, stray white space.
func scanMembers(space []member, lines []string) ([]member, bool) {
	for _, line := range lines {
		s := scanner{text: line}
		for {
			m, ok := s.member()
			if !ok {
				return nil, false
			}
			space = append(space, m)
			if s.at == len(line) {
				break
			}
			if !s.comma() {
				return nil, false
			}
		}
	}
	return space, len(space) > 0
}

type scanner struct {
	text string
	at   int
}

func (s *scanner) next(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// comma passes a comma and the white space after it.
func (s *scanner) comma() bool {
	if !s.next(',') {
		return false
	}
	for s.next(' ') || s.next('\t') {
	}
	return true
}

func (s *scanner) member() (member, bool) {
	m := newMember()
	name, ok := s.quoted()
	if !ok {
		return m, false
	}
	m.named, m.name = true, bounded(name)
	for s.next(';') {
		for s.next(' ') {
		}
		if !s.parameter(&m) {
			return m, false
		}
	}
	return m, true
}

// parameter reads one parameter (RFC 9651, Parameters). Of one that is given
// twice the last counts.
func (s *scanner) parameter(m *member) bool {
	key, ok := s.key()
	if !ok {
		return false
	}
	n, partition, requests := invalid, uint64(0), false
	if s.next('=') {
		switch c := s.peek(); {
		case '0' <= c && c <= '9':
			n, ok = s.integer()
		case c == ':':
			partition, ok = s.bytes()
		case c == '"':
			var text string
			text, ok = s.quoted()
			partition, requests = partitionOf(text), text == "requests"
		case c == '*' || 'a' <= c|0x20 && c|0x20 <= 'z':
			partition = partitionOf(s.token())
		case c == '?':
			ok = s.boolean()
		default:
			return false
		}
	}
	switch key {
	case "q":
		m.q = n
	case "w":
		m.w = n
	case "r":
		m.r = n
	case "t":
		m.t = n
	case "qu":
		m.foreign = !requests
	case "pk":
		m.partition = partition
	}
	return ok && s.ended()
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// ended reports whether a parameter ends here.
func (s *scanner) ended() bool {
	return s.at == len(s.text) || s.text[s.at] == ';' || s.text[s.at] == ','
}

func (s *scanner) key() (string, bool) {
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		first := 'a' <= c && c <= 'z' || c == '*'
		if !first && (s.at == start || !('0' <= c && c <= '9' || c == '_' || c == '-' || c == '.')) {
			break
		}
	}
	return s.text[start:s.at], s.at > start
}

// token reads a Token, whose first character was seen to be one.
func (s *scanner) token() string {
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') && strings.IndexByte("!#$%&'*+-.^_`|~:/", c) < 0 {
			break
		}
	}
	return s.text[start:s.at]
}

func (s *scanner) boolean() bool { return s.next('?') && (s.next('0') || s.next('1')) }

// quoted reads a String without escapes.
func (s *scanner) quoted() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	end := strings.IndexByte(s.text[s.at:], '"')
	if end < 0 {
		return "", false
	}
	text := s.text[s.at : s.at+end]
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' || text[i] == '\\' {
			return "", false
		}
	}
	s.at += end + 1
	return text, true
}

// integer reads up to 15 digits (RFC 9651, Integers).
func (s *scanner) integer() (int64, bool) {
	start, n := s.at, int64(0)
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		if s.at-start == 15 {
			return 0, false
		}
		n = n*10 + int64(s.text[s.at]-'0')
		s.at++
	}
	if s.at == start {
		return 0, false
	}
	return n, true
}

// bytes reads a Byte Sequence of usual length (RFC 9651, Byte Sequences).
func (s *scanner) bytes() (partition uint64, ok bool) {
	if !s.next(':') {
		return 0, false
	}
	end := strings.IndexByte(s.text[s.at:], ':')
	var encoded, key [64]byte
	if end < 0 || end > len(encoded) {
		return 0, false
	}
	copy(encoded[:], s.text[s.at:s.at+end])
	for _, c := range encoded[:end] {
		if c == '\r' || c == '\n' {
			return 0, false // the decoder would pass over them
		}
	}
	n, err := base64.StdEncoding.Decode(key[:], encoded[:end])
	if err != nil {
		return 0, false
	}
	s.at += end + 1
	return partitionOf(key[:n]), true
}
