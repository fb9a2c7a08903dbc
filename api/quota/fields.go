package quota

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what is accepted and kept of a field.
const (
	maxReset       = 25 * time.Hour       // t: a day and slack
	maxWindow      = 366 * 24 * time.Hour // w
	maxPolicyName  = 64                   // bytes of a policy's name
	maxFieldText   = 8 << 10              // bytes of all lines of a field: a longer one is ignored
	maxMembers     = 64                   // of a field: one with more is ignored
	maxIgnoredText = 200                  // bytes of the text of an ignored field
)

// Report is one bucket as one response reported it: a member of RateLimit, a
// member of RateLimit-Policy, or both paired.
type Report struct {
	Policy string `json:"policy,omitempty"` // the policy's name, printable ASCII, at most 64 bytes

	Limit       int64         `json:"limit,omitempty"`       // q
	Window      time.Duration `json:"windowNs,omitzero"`     // w, at most 366 days; 0 when not given
	PolicyKnown bool          `json:"policyKnown,omitempty"` // whether Limit and Window were reported

	Remaining      int64         `json:"remaining,omitempty"`      // r
	Reset          time.Duration `json:"resetNs,omitzero"`         // t, at most 25 hours
	RemainingKnown bool          `json:"remainingKnown,omitempty"` // whether Remaining was reported
	ResetKnown     bool          `json:"resetKnown,omitempty"`     // whether Reset was reported
}

// Ignored is a header field that was present but unusable.
type Ignored struct {
	Field string // its name
	Text  string // its value in printable ASCII, without partition keys, at most 200 bytes
}

// Fields is what the RateLimit and RateLimit-Policy fields of one response say
// (IETF draft 8, draft-ietf-httpapi-ratelimit-headers-08).
type Fields struct {
	Reports []Report
	Ignored []Ignored
	Older   bool // fields of another draft were present and not used
}

// ParseFields reads the RateLimit and RateLimit-Policy fields of h, all their
// lines, in any spelling of their names. It never fails: a malformed field is
// ignored whole, as the draft demands, and kept in Ignored; a member without the
// numbers that the draft requires, or one that counts something other than
// requests, is left out. Limits are paired with policies by name and partition
// key; partition keys identify an API key and are not kept.
func ParseFields(h http.Header) Fields {
	var f Fields
	limits := f.read(h, "Ratelimit")
	policies := f.read(h, "Ratelimit-Policy")
	f.Older = f.Older || hasOlderFields(h)
	f.Reports = pair(limits, policies)
	return f
}

// read parses one field into its usable members.
func (f *Fields) read(h http.Header, name string) []member {
	lines := values(h, name)
	if len(lines) == 0 {
		return nil
	}
	// A gateway's line of an older draft is no list, and none of the service's.
	if service := slices.DeleteFunc(slices.Clone(lines), ofDraft7); len(service) > 0 {
		f.Older, lines = f.Older || len(service) < len(lines), service
	}
	if length(lines) > maxFieldText {
		f.ignore(name, lines[:1])
		return nil
	}
	members, ok := parseMembers(lines)
	if !ok || len(members) > maxMembers {
		f.ignore(name, lines)
		return nil
	}
	isPolicy := name == "Ratelimit-Policy"
	usable := members[:0]
	for _, m := range members {
		switch {
		case !m.named:
			f.Older = true
		case m.foreign:
		case isPolicy && m.q >= 0 && m.w != invalid, !isPolicy && m.r >= 0 && m.t != invalid:
			usable = append(usable, m)
		}
	}
	if len(usable) == 0 && len(members) > 0 {
		f.ignore(name, lines)
	}
	return usable
}

func ofDraft7(line string) bool { return strings.HasPrefix(line, "limit=") }

func length(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// values is http.Header.Values for names in any case: net/http makes them
// canonical, maps made by hand may hold them otherwise.
func values(h http.Header, canonical string) []string {
	if v := h[canonical]; len(v) > 0 {
		return v
	}
	for name, v := range h {
		if len(name) == len(canonical) && strings.EqualFold(name, canonical) {
			return v
		}
	}
	return nil
}

func (f *Fields) ignore(name string, lines []string) {
	spelled := "RateLimit"
	if name == "Ratelimit-Policy" {
		spelled = "RateLimit-Policy"
	}
	text := strings.Join(lines, ", ")
	text = text[:min(len(text), 4*maxIgnoredText)]
	if name == "Ratelimit" && ofDraft7(text) {
		f.Older = true
	}
	f.Ignored = append(f.Ignored, Ignored{Field: spelled, Text: cut(withoutKeys(printable(text)))})
}

// withoutKeys hides the values of partition keys in the printable text of a
// field. A quoted key may hold any character.
func withoutKeys(text string) string { return partitionKeys.ReplaceAllString(text, "${1}***") }

var partitionKeys = regexp.MustCompile(`(?i)(pk)(?:.*".*|[^;,]*)`)

// printable keeps printable ASCII and marks everything else.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, text)
}

func cut(text string) string {
	if len(text) <= maxIgnoredText {
		return text
	}
	return text[:maxIgnoredText-1] + "~"
}

// hasOlderFields reports whether h has the fields of drafts before 7 or their common predecessors.
func hasOlderFields(h http.Header) bool {
	for _, name := range [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "Ratelimit-Limit", "Ratelimit-Remaining"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// pair joins limits with their policies. Those without a partner stay alone.
func pair(limits, policies []member) []Report {
	if len(limits)+len(policies) == 0 {
		return nil
	}
	reports := make([]Report, 0, max(len(limits), len(policies)))
	lone := len(limits) == 1 && len(policies) == 1
	for i := range limits {
		limit := &limits[i]
		best := -1
		for j := range policies {
			if !policies[j].used && policies[j].partners(limit, lone) &&
				(best < 0 || policies[j].fits(limit, &policies[best])) {
				best = j
			}
		}
		if best < 0 {
			reports = append(reports, limit.report())
			continue
		}
		policies[best].used = true
		r := policies[best].report()
		r.Remaining, r.RemainingKnown = limit.r, true
		r.Reset, r.ResetKnown = seconds(limit.t, maxReset)
		reports = append(reports, r)
	}
	for j := range policies {
		if !policies[j].used {
			reports = append(reports, policies[j].report())
		}
	}
	return reports
}
