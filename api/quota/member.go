package quota

import (
	"hash/fnv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// What a parameter holds when it holds no usable number.
const (
	missing int64 = -1
	invalid int64 = -2
)

// member is one member of a field, as the draft's parameters describe it.
type member struct {
	named      bool // the member is a String, as draft 8 demands
	foreign    bool // it counts something other than requests
	used       bool // a policy that found its limit
	name       string
	q, w, r, t int64
	partition  uint64 // hash of pk; 0 when absent
}

func newMember() member {
	return member{q: missing, w: missing, r: missing, t: missing}
}

// partners reports whether the policy m may be that of limit. Servers leave pk
// out of one of the two fields, and, where each field has one member only, name
// them differently.
func (m *member) partners(limit *member, lone bool) bool {
	if m.partition != 0 && limit.partition != 0 && m.partition != limit.partition {
		return false
	}
	return m.name == limit.name || lone
}

// fits reports whether the policy m suits limit better than other, where both
// have its name: names are not unique, a time to reset is never longer than its
// window.
func (m *member) fits(limit, other *member) bool {
	if same, otherSame := m.partition == limit.partition, other.partition == limit.partition; same != otherSame {
		return same
	}
	holds, otherHolds := m.holds(limit), other.holds(limit)
	if holds != otherHolds {
		return holds
	}
	return holds && m.w < other.w
}

func (m *member) holds(limit *member) bool {
	return (m.w < 0 || limit.t <= m.w) && limit.r <= m.q
}

func (m *member) report() Report {
	r := Report{Policy: m.name}
	if m.q >= 0 {
		r.Limit, r.PolicyKnown = m.q, true
		r.Window, _ = seconds(m.w, maxWindow)
	}
	if m.r >= 0 {
		r.Remaining, r.RemainingKnown = m.r, true
		r.Reset, r.ResetKnown = seconds(m.t, maxReset)
	}
	return r
}

func seconds(n int64, most time.Duration) (time.Duration, bool) {
	if n < 0 {
		return 0, false
	}
	return time.Duration(min(n, int64(most/time.Second))) * time.Second, true
}

// parseMembers reads lines as one structured-field List (RFC 9651).
func parseMembers(lines []string) ([]member, bool) {
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil, false
	}
	members := make([]member, 0, len(list))
	for _, item := range list {
		m := newMember()
		if item, ok := item.(httpsfv.Item); ok {
			m.setName(item.Value)
			for _, key := range item.Params.Names() {
				value, _ := item.Params.Get(key)
				m.set(key, value)
			}
		}
		members = append(members, m)
	}
	return members, true
}

func (m *member) setName(value any) {
	if name, ok := value.(string); ok {
		m.named, m.name = true, bounded(name)
	}
}

func bounded(name string) string { return name[:min(len(name), maxPolicyName)] }

func (m *member) set(key string, value any) {
	switch key {
	case "q":
		m.q = number(value)
	case "w":
		m.w = number(value)
	case "r":
		m.r = number(value)
	case "t":
		m.t = number(value)
	case "qu":
		m.foreign = value != "requests"
	case "pk":
		m.partition = partition(value)
	}
}

func number(value any) int64 {
	if n, ok := value.(int64); ok && n >= 0 {
		return n
	}
	return invalid
}

// partition is a hash to compare partition keys by; the draft has a Byte
// Sequence there, some servers a String or a Token.
func partition(value any) uint64 {
	switch v := value.(type) {
	case []byte:
		return partitionOf(v)
	case string:
		return partitionOf([]byte(v))
	case httpsfv.Token:
		return partitionOf([]byte(v))
	}
	return 0
}

func partitionOf(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key) // a hash takes everything
	return h.Sum64() | 1
}

// scanMembers reads the plain shape that services send,
//
//	"name";q=10;w=1
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

// parameter reads one parameter with a value that is a whole number.
func (s *scanner) parameter(m *member) bool {
	start := s.at
	for s.at < len(s.text) && 'a' <= s.text[s.at] && s.text[s.at] <= 'z' {
		s.at++
	}
	key := s.text[start:s.at]
	if key == "" || key == "pk" || key == "qu" || !s.next('=') {
		return false
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
