package signature

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// deepest is the deepest level of JSON that is rewritten: deeper ones stay unchanged.
const deepest = 16

// style is how a library writes JSON; the words of each part name such libraries.
type style struct {
	layout  layout
	escapes escapes
	order   order
}

type layout struct{ comma, colon, indent, words string }

type escapes struct {
	special string // runes that are escaped although JSON does not require it
	ascii   bool   // everything that is not ASCII is escaped
	digits  string // the format of such an escape
	words   string
}

type order struct {
	event, source []string // the order of members by name; nil: unchanged
	sorted        bool
	words         string
}

// styles yields the styles of common libraries, the plainest first.
func styles(yield func(style) bool) {
	event, arranged := []string{"id", "object", "type", "createdAt", "source", "data"}, "with its members in the contract's order (a map in Go, sort_keys in Python and jq -S sort them)"
	for _, o := range []order{
		{words: "with its members in another order"},
		{sorted: true, words: "with its members sorted (a map in Go, sort_keys in Python, jq -S)"},
		{event: event, source: []string{"id", "type"}, words: arranged},
		{event: event, source: []string{"type", "id"}, words: arranged},
	} {
		for _, e := range []escapes{
			{words: "with nothing escaped that need not be (JSON.stringify, jq)"},
			{ascii: true, digits: `\u%04x`, words: `with non-ASCII as \u… (Python's json.dumps)`},
			{special: "/", ascii: true, digits: `\u%04x`, words: `with slashes and non-ASCII escaped (PHP's json_encode)`},
			{special: "/", words: "with slashes escaped (PHP with JSON_UNESCAPED_UNICODE)"},
			{special: "<>&\u2028\u2029", digits: `\u%04x`, words: `with <, > and & as \u… (Go's encoding/json, Rails)`},
			{special: `<>&'+"`, ascii: true, digits: `\u%04X`, words: `with non-ASCII, <, > and & as \u… in capitals (.NET's System.Text.Json)`},
		} {
			for _, l := range []layout{
				{",", ":", "", "without blanks (JSON.stringify, Go, Jackson, PHP)"},
				{", ", ": ", "", "with a blank behind each comma and colon (Python's json.dumps)"},
				{",", ": ", "  ", "indented by 2 (JSON.stringify with 2, jq, Ruby)"},
				{",", ": ", "    ", "indented by 4 (PHP's JSON_PRETTY_PRINT, Python's indent=4)"},
				{",", ": ", "\t", "indented by tabs (Go's MarshalIndent, jq --tab)"},
			} {
				if !yield(style{l, e, o}) {
					return
				}
			}
		}
	}
}

// rewritings yields the texts that the JSON of a body may have had when it was signed.
func rewritings(body []byte) iter.Seq[form] {
	return func(yield func(form) bool) {
		if !json.Valid(body) {
			return
		}
		parsed := parse(body)
		for s := range styles {
			text := s.of(parsed)
			for _, signed := range [][]byte{text, append(text, '\n')} {
				if !bytes.Equal(signed, body) && !yield(form{body: signed, style: s, fault: fault{cause: Rewritten}}) {
					return
				}
			}
		}
	}
}

// against says how a body was signed and how it arrived, where the two differ.
func (s style) against(body []byte) string {
	was, is := s.layout.words, "in a form of its own"
	parsed := parse(body)
	for arrived := range styles {
		if text := arrived.of(parsed); !bytes.Equal(text, bytes.TrimSuffix(body, []byte("\n"))) {
			continue
		}
		was, is = "", ""
		for _, part := range [][2]string{{s.layout.words, arrived.layout.words}, {s.escapes.words, arrived.escapes.words}, {s.order.words, arrived.order.words}} {
			if part[0] != part[1] {
				was, is = was+", "+part[0], is+", "+part[1]
			}
		}
		break
	}
	return fmt.Sprintf("the JSON was parsed and written again: it was signed %s and arrived %s; keep the raw bytes, from before anything parses them",
		strings.TrimPrefix(was, ", "), strings.TrimPrefix(is, ", "))
}

// node is a parsed JSON value. Parsing takes longer than writing, and each style writes the same values.
type node struct {
	gjson.Result
	name    string  // of a member of an object
	members []*node // of an object or array that is written anew
}

func parse(body []byte) *node { return nodeOf(gjson.ParseBytes(body), "", 0) }

func nodeOf(v gjson.Result, name string, depth int) *node {
	n := &node{Result: v, name: name}
	if depth <= deepest && (v.IsObject() || v.IsArray()) {
		n.members = []*node{}
		v.ForEach(func(name, value gjson.Result) bool {
			n.members = append(n.members, nodeOf(value, name.Str, depth+1))
			return true
		})
	}
	return n
}

// of writes JSON in this style.
func (s style) of(n *node) []byte {
	var b bytes.Buffer
	b.Grow(len(n.Raw) + len(n.Raw)/4)
	s.write(&b, n, 0)
	return b.Bytes()
}

func (s style) write(b *bytes.Buffer, n *node, depth int) {
	switch {
	case n.Type == gjson.String:
		s.quote(b, n.Str)
		return
	case n.members == nil:
		b.WriteString(n.Raw)
		return
	}
	items := n.members
	brackets := "[]"
	if n.IsObject() {
		brackets = "{}"
		items = s.order.of(items)
	}
	line := func(depth int) {
		if s.layout.indent != "" && len(items) > 0 {
			b.WriteString("\n" + strings.Repeat(s.layout.indent, depth))
		}
	}
	b.WriteByte(brackets[0])
	for i, item := range items {
		if i > 0 {
			b.WriteString(s.layout.comma)
		}
		line(depth + 1)
		if n.IsObject() {
			s.quote(b, item.name)
			b.WriteString(s.layout.colon)
		}
		s.write(b, item, depth+1)
	}
	line(depth)
	b.WriteByte(brackets[1])
}

// of returns the members of an object in this order. An object with two members is a source.
func (o order) of(members []*node) []*node {
	names := o.event
	if len(members) == 2 {
		names = o.source
	}
	if names == nil && !o.sorted {
		return members
	}
	return slices.SortedStableFunc(slices.Values(members), func(a, b *node) int {
		if o.sorted {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Compare(slices.Index(names, a.name), slices.Index(names, b.name))
	})
}

func (s style) quote(b *bytes.Buffer, text string) {
	e := s.escapes
	b.WriteByte('"')
	for _, r := range text {
		if 'a' <= r && r <= 'z' { // most are
			b.WriteByte(byte(r))
			continue
		}
		short := strings.IndexRune("\"\\\b\f\n\r\t/", r)
		special := strings.ContainsRune(e.special, r)
		switch {
		case special && e.digits != "" && r != '/', e.ascii && r > '~' && r < 0x10000, short < 0 && r < ' ':
			fmt.Fprintf(b, cmp.Or(e.digits, `\u%04x`), r)
		case short >= 0 && (special || r != '/'):
			b.WriteString(`\` + `"\bfnrt/`[short:short+1])
		case e.ascii && r > '~':
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, e.digits+e.digits, high, low)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
