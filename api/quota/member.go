package quota

import (
	"time"

	"github.com/dunglas/httpsfv"
)

// Values of a parameter without a usable number.
const (
	missing int64 = -1
	invalid int64 = -2
)

// member is one member of a field, with the draft's parameters.
type member struct {
	named      bool // the member is a String, as draft 8 demands
	foreign    bool // it counts something other than requests
	used       bool // a policy that found its limit
	name       string
	q, w, r, t int64
	partition  string // pk; "" if absent
}

func newMember() member {
	return member{q: missing, w: missing, r: missing, t: missing}
}

// partners reports whether the policy m may belong to limit. Servers omit pk from one of the two fields and, if
// each field has one member, name them differently.
func (m *member) partners(limit *member, lone bool) bool {
	if m.partition != "" && limit.partition != "" && m.partition != limit.partition {
		return false
	}
	return m.name == limit.name || lone
}

// fits reports whether the policy m of the same name suits limit better than other: names are not unique, but a
// reset is never longer than its window.
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

// partition returns a comparable partition key. The draft has a Byte Sequence; some servers send a String or a
// Token.
func partition(value any) string {
	switch v := value.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	case httpsfv.Token:
		return string(v)
	}
	return ""
}
