package pane

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// Filter is what a person typed to find rows: terms that must all hold. A term
// is a word, "!word" for rows without it, a field with a word ("state:failed") or
// with several of which any will do ("state:failed,completed"), or a figure with a
// bound ("total>100", "age>10m"). What stands in quotes is one word, whatever it
// holds.
type Filter struct {
	Text string
	// Wrong says what is not understood; "" when all is. Such a term hides
	// nothing.
	Wrong string

	terms []term
	aging bool // asks for ages, so that it finds other rows as time goes on
	now   time.Time
}

type term struct {
	not    bool
	texts  []string // any of them
	field  column
	bounds []*bound // any of them, instead of texts
}

// Aging reports whether the filter finds other rows as time goes on.
func (f *Filter) Aging() bool { return f != nil && f.aging }

// column is a part of a row's text.
type column uint8

const (
	inAll column = iota
	inState
	inPlace // merchant, carrier or who sent it
	inName  // product or path
	inID
	inMore
)

// Field is a name that may stand before a colon or a bound.
type Field struct {
	Name   string
	column column
	figure figure          // instead of a column
	values func() []string // all that the column can hold, in lower case; nil where it can hold anything
	whole  bool            // "=" finds the whole of what stands between two edges, not a part of it
}

// edge stands around each text of a column that can be asked for as a whole.
const edge = "\x01"

// edged is texts in a column that can be asked for as a whole.
func edged(texts ...string) string {
	return edge + strings.ReplaceAll(strings.Join(texts, edge), `"`, "") + edge
}

// quoted is a text as a filter takes it for one word, whatever it holds.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, "") + `"` }

func asWhole(f Field) Field {
	f.whole = true
	return f
}

func inColumn(name string, c column) Field { return Field{Name: name, column: c} }
func measures(name string, f figure) Field { return Field{Name: name, figure: f} }

// oneOf is a field that holds one of few words: those that are known, and those of
// the rows that there are.
func oneOf(name string, known []string, seen func(yield func(string) bool)) Field {
	return Field{Name: name, column: inState, values: func() []string {
		all := slices.Clone(known)
		for text := range seen {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		return all
	}}
}

// worded is what a row is found by that is in a state: its name on the wire, the
// words of that, and the word that the screen shows.
func worded[S ~string](state S, shown sign.Sign) string {
	return strings.ToLower(string(state) + " " + wording.Name(string(state)) + " " + shown.Word)
}

func wordedAll[S ~string](states []S, shown func(S) sign.Sign) (all []string) {
	for _, s := range states {
		all = append(all, worded(s, shown(s)))
	}
	return all
}

// ParseFilter reads a filter over fields; it is nil when nothing is asked for.
func ParseFilter(text string, fields []Field) *Filter {
	f := &Filter{Text: text}
	for word := range terms(text) {
		not := false
		if rest, ok := strings.CutPrefix(word, "!"); ok {
			not, word = true, rest
		}
		if word == "" {
			continue
		}
		t, wrong := parseTerm(word, fields)
		switch {
		case wrong != "" && f.Wrong == "":
			f.Wrong = wrong
		case wrong == "":
			t.not = not
			f.aging = f.aging || len(t.bounds) > 0 && t.bounds[0].figure == age
			f.terms = append(f.terms, t)
		}
	}
	if len(f.terms) == 0 && f.Wrong == "" {
		return nil
	}
	return f
}

// terms divides a text at blanks that are not within quotes.
func terms(text string) iter.Seq[string] { return divided(text, " \t") }

// divided divides a text at the separators that are not within quotes, and leaves
// out what is empty.
func divided(text, separators string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, from := false, 0
		for i, r := range text {
			switch {
			case r == '"':
				quoted = !quoted
			case !quoted && strings.ContainsRune(separators, r):
				if i > from && !yield(text[from:i]) {
					return
				}
				from = i + 1
			}
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

func parseTerm(word string, fields []Field) (term, string) {
	at := strings.IndexAny(word, `":<>=`)
	if at <= 0 || word[at] == '"' || strings.ContainsFunc(word[:at], notLetter) {
		return term{texts: []string{unquoted(word)}}, ""
	}
	name, rest := strings.ToLower(word[:at]), word[at:]
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return term{}, "there is no field " + name + "; there are " + names(fields) + `; "…" finds text`
	}
	field := fields[i]
	if field.figure != noFigure {
		bounds, wrong := parseBounds(name, rest, field.figure)
		return term{bounds: bounds}, wrong
	}
	if rest[0] == '<' || rest[0] == '>' {
		return term{}, name + " cannot be compared: write " + name + ":word"
	}
	t := term{field: field.column}
	for text := range divided(rest[1:], ",") {
		if text = unquoted(text); text == "" {
			continue
		}
		if values := field.possible(); values != nil && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, text) }) {
			return term{}, "there is no " + name + " " + strconv.Quote(text) + field.known(values)
		}
		if field.whole && rest[0] == '=' {
			text = edge + text + edge
		}
		t.texts = append(t.texts, text)
	}
	if len(t.texts) == 0 {
		return term{}, name + ": write a word after it"
	}
	return t, ""
}

func (f *Field) possible() []string {
	if f.values == nil {
		return nil
	}
	return f.values()
}

// known names the values that there are by their names on the wire.
func (f *Field) known(values []string) string {
	names := make([]string, 0, len(values))
	for _, v := range values {
		if name, _, _ := strings.Cut(v, " "); name != "" {
			names = append(names, name)
		}
	}
	return "; there are " + strings.Join(names, ", ")
}

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

func unquoted(word string) string { return strings.ToLower(strings.ReplaceAll(word, `"`, "")) }

func names(fields []Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// Hint names the fields as they are written.
func Hint(fields []Field) string {
	var all []string
	for _, f := range fields {
		if f.figure != noFigure {
			all = append(all, f.Name+">")
		} else {
			all = append(all, f.Name+":")
		}
	}
	return strings.Join(all, " ")
}

// narrows reports whether f can only show what before shows as well: it was
// typed on, and asks for text alone.
func (f *Filter) narrows(before *Filter) bool {
	return f != nil && before != nil && strings.HasPrefix(f.Text, before.Text) && !strings.ContainsAny(f.Text, `!:<>="`)
}

// filterTable sets the filter of a table.
func filterTable[T any](t *table.Table[T], f, before *Filter, now time.Time) {
	if f != nil {
		f.now = now
	}
	switch {
	case f == nil:
		t.SetFilter(nil)
	case f.narrows(before):
		t.NarrowFilter(f)
	default:
		t.SetFilter(f)
	}
}

// searched is a row that can be found.
type searched interface {
	measured
	search() *needle
}

// needle is a row's text made ready to be searched, in lower case.
type needle struct {
	all  string
	ends [inMore - 1]int32 // of the columns in all but the last
}

// search makes a row that holds a needle one that can be found.
func (n *needle) search() *needle { return n }

const between = "\x00"

func newNeedle(state, place, name, id, more string) needle {
	all := strings.ToLower(state + between + place + between + name + between + id + between + more)
	n := needle{all: all}
	from := 0
	for i := range n.ends {
		// Lower case may have another length: look for the separators instead.
		from += strings.Index(all[from:], between)
		n.ends[i] = int32(from)
		from++
	}
	return n
}

func (n *needle) in(c column) string {
	from, to := 0, len(n.all)
	if c == inAll {
		return n.all
	}
	if c > inState {
		from = int(n.ends[c-inPlace]) + 1
	}
	if c < inMore {
		to = int(n.ends[c-inState])
	}
	return n.all[from:to]
}

func (f *Filter) matches(row searched) bool {
	n := row.search()
	for i := range f.terms {
		t := &f.terms[i]
		in := n.in(t.field)
		found := slices.ContainsFunc(t.texts, func(text string) bool { return strings.Contains(in, text) }) ||
			slices.ContainsFunc(t.bounds, func(b *bound) bool { return b.holds(row, f.now) })
		if found == t.not {
			return false
		}
	}
	return true
}

func matchRow[T searched](row T, filter any) bool {
	f, ok := filter.(*Filter)
	return !ok || f.matches(row)
}
