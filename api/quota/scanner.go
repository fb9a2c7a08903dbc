package quota

import (
	"encoding/base64"
	"strings"
)

// scanMembers reads the plain shape that services send,
//
//	"name";q=10;w=1;pk=:a2V5:
//
// without the cost of the general parser. It says no, and proves nothing, at
// anything else.
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
	if !s.next('"') {
		return m, false
	}
	end := strings.IndexByte(s.text[s.at:], '"')
	if end < 0 {
		return m, false
	}
	name := s.text[s.at : s.at+end]
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' || name[i] == '\\' {
			return m, false
		}
	}
	m.named, m.name = true, bounded(name)
	s.at += end + 1
	for s.next(';') {
		for s.next(' ') {
		}
		if !s.parameter(&m) {
			return m, false
		}
	}
	return m, true
}

// parameter reads one parameter: a partition key, or a whole number.
func (s *scanner) parameter(m *member) bool {
	start := s.at
	for s.at < len(s.text) && 'a' <= s.text[s.at] && s.text[s.at] <= 'z' {
		s.at++
	}
	key := s.text[start:s.at]
	if key == "" || key == "qu" || !s.next('=') {
		return false
	}
	if key == "pk" {
		return s.bytes(m)
	}
	n, ok := s.integer()
	if !ok {
		return false
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
	}
	return true
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
	return n, s.at == len(s.text) || s.text[s.at] == ';' || s.text[s.at] == ','
}

// bytes reads a Byte Sequence of usual length (RFC 9651, Byte Sequences).
func (s *scanner) bytes(m *member) bool {
	if !s.next(':') {
		return false
	}
	end := strings.IndexByte(s.text[s.at:], ':')
	var encoded, key [64]byte
	if end < 0 || end > len(encoded) {
		return false
	}
	copy(encoded[:], s.text[s.at:s.at+end])
	for _, c := range encoded[:end] {
		if c == '\r' || c == '\n' {
			return false // the decoder would pass over them
		}
	}
	n, err := base64.StdEncoding.Decode(key[:], encoded[:end])
	if err != nil {
		return false
	}
	m.partition = partitionOf(key[:n])
	s.at += end + 1
	return s.at == len(s.text) || s.text[s.at] == ';' || s.text[s.at] == ','
}
