package pane

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/table"
)

// Filter is a parsed filter: terms, separated by blanks, which must all match. A term is
// one word or several, separated by commas, any of which may match ("failed,expired");
// after "!" none may match. A field before a word applies to all later words of the term
// ("state:failed,completed"). A word may be a regular expression ("/gel.*pen/"); a figure
// has a bound ("total>100", "age>10m"). Text in quotes is one word, whatever it contains.
type Filter struct {
	Text string
	// Wrong says what is wrong with a term, which then hides nothing; "" if nothing is.
	Wrong string
	// Broken is true if a regular expression is wrong.
	Broken bool

	terms []term
	aging []term // terms about ages: what they find changes with time
	slow  bool   // a term has a compiled expression, so rows remember whether they matched
	now   time.Time
}

type term struct {
	not bool
	any []alternative
}

// alternative is one alternative of a term: a text, an expression or a bound.
type alternative struct {
	field column
	text  string
	like  *expression // instead of text
	bound *bound      // instead of both
}

func (a *alternative) holds(row searched, now time.Time) bool {
	switch {
	case a.bound != nil:
		return a.bound.holds(row, now)
	case a.like != nil:
		return a.like.finds(row.search().in(a.field))
	}
	return strings.Contains(row.search().in(a.field), a.text)
}

// hides reports whether the filter has a valid term, and so hides rows.
func (f *Filter) hides() bool { return len(f.terms)+len(f.aging) > 0 }

// Aging reports whether the matches of the filter change with time.
func (f *Filter) Aging() bool { return f != nil && len(f.aging) > 0 }

// Slow reports whether filtering many rows takes a noticeable time.
func (f *Filter) Slow() bool { return f != nil && f.slow }

// ParseFilter reads a filter over fields; nil if the text is empty.
func ParseFilter(text string, fields []Field) *Filter {
	f := &Filter{Text: text}
	for word := range terms(text) {
		rest, not := strings.CutPrefix(word, "!")
		if rest == "" {
			continue
		}
		p := termParser{fields: fields}
		p.read(rest)
		if p.wrong == "" && len(p.any) > 0 {
			if slices.ContainsFunc(p.any, func(a alternative) bool { return a.bound != nil && a.bound.figure == age }) {
				f.aging = append(f.aging, term{not, p.any})
			} else {
				f.terms = append(f.terms, term{not, p.any})
			}
			f.slow = f.slow || slices.ContainsFunc(p.any, func(a alternative) bool { return a.like != nil && a.like.compiled != nil })
		}
		if f.Wrong == "" {
			f.Wrong = p.wrong
		}
		f.Broken = f.Broken || p.broken
	}
	if !f.hides() && f.Wrong == "" {
		return nil
	}
	return f
}

// terms splits a text at blanks.
func terms(text string) iter.Seq[string] { return divided(text, " \t") }

// divided splits a text at separators outside quotes and expressions, and omits empty
// parts.
func divided(text, separators string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, from := false, 0
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '/' && (i == from || strings.IndexByte("!:=,", text[i-1]) >= 0):
				i += max(expressionAt(text[i:])-1, 0)
			case strings.IndexByte(separators, c) >= 0:
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

// termParser parses the alternatives of a term, up to the first wrong one.
type termParser struct {
	fields []Field
	named  *Field // the field of the next word; nil: none
	op     string // the operator after the field
	any    []alternative
	wrong  string
	broken bool // the wrong alternative is an expression
}

func (p *termParser) read(term string) {
	incomplete := "" // what must still follow the last field; "" once a word has
	for word := range divided(term, ",") {
		if rest, ok := p.field(word); ok {
			word, incomplete = rest, p.wants()
		} else if p.named != nil && p.named.figure != noFigure && p.op != "=" {
			p.wrong = p.named.Name + p.op + " takes one value: write thousands without a comma"
		}
		before := len(p.any)
		if p.wrong == "" && word != "" {
			p.word(word)
		}
		if p.wrong != "" {
			return
		}
		if len(p.any) > before {
			incomplete = ""
		}
	}
	p.wrong = incomplete
}

// field splits the name of a field off a word; ok is false if there is none.
func (p *termParser) field(word string) (rest string, ok bool) {
	at := strings.IndexAny(word, `":<>=`)
	if at <= 0 || word[at] == '"' || strings.ContainsFunc(word[:at], notLetter) {
		return word, false
	}
	name := strings.ToLower(word[:at])
	i := slices.IndexFunc(p.fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		p.wrong = "there is no field " + name + "; there are " + names(p.fields) + `; "…" finds text`
		return "", true
	}
	p.named = &p.fields[i]
	p.op, rest = operator(word[at:])
	if p.named.figure == noFigure && p.op != "=" && p.op != ":" {
		p.wrong = name + " cannot be compared: write " + name + ":word"
	}
	if p.named.figure != noFigure && p.op == ":" {
		p.op = "="
	}
	return rest, true
}

// wants says what must follow the field.
func (p *termParser) wants() string {
	switch {
	case p.named == nil:
		return ""
	case p.named.figure != noFigure:
		return p.named.Name + p.op + ": " + missing(p.named.figure)
	}
	return p.named.Name + ": write a word after it"
}

// word adds a word as an alternative.
func (p *termParser) word(word string) {
	var field Field
	if p.named != nil {
		field = *p.named
	}
	if field.figure != noFigure {
		var b *bound
		if b, p.wrong = parseBound(field.Name, p.op, strings.ToLower(word), field.figure); p.wrong == "" {
			p.any = append(p.any, alternative{bound: b})
		}
		return
	}
	if word[0] == '!' {
		p.wrong = `! excludes a whole term, as in !failed,expired; "!…" finds text`
		return
	}
	if inner, ok := within(word); ok {
		p.expression(field, inner)
		return
	}
	text := unquoted(word)
	if text == "" {
		return
	}
	if values := field.possible(); values != nil && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, text) }) {
		p.wrong = "there is no " + field.Name + " " + strconv.Quote(text) + field.known(values)
		return
	}
	if field.whole && p.op == "=" {
		text = edge + text + edge
	}
	p.any = append(p.any, alternative{field: field.column, text: text})
}

func (p *termParser) expression(field Field, inner string) {
	if inner == "" {
		return
	}
	like, wrong := newExpression(inner)
	if p.wrong, p.broken = wrong, wrong != ""; !p.broken {
		p.any = append(p.any, alternative{field: field.column, like: like})
	}
}

func (f *Field) possible() []string {
	if f.values == nil {
		return nil
	}
	return f.values()
}

// known lists the possible values by their names on the wire.
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

// filterTable sets the filter of a table.
func filterTable[T any](t *table.Table[T], f *Filter, now time.Time) {
	if f == nil {
		t.SetFilter(nil)
		return
	}
	f.now = now
	t.SetFilter(f)
}

// matches reports whether the filter finds a row. The row remembers the answer of a slow
// filter for the other tables that it is in, except for terms about its age.
func (f *Filter) matches(row searched) bool {
	if !f.slow {
		return f.finds(row)
	}
	n := row.search()
	if n.asked != f {
		n.asked, n.found = f, hold(f.terms, row, f.now)
	}
	return n.found && hold(f.aging, row, f.now)
}

// search returns the work of a slow filter as a function that may run in another goroutine.
// That returns a function which stores the answers in the rows, so that matches is fast.
func search[T searched](f *Filter, rows []T) func() (keep func()) {
	rows = slices.Clone(rows)
	return func() func() {
		found := make([]bool, len(rows))
		for i, row := range rows {
			found[i] = hold(f.terms, row, time.Time{}) // only the aging terms need the time
		}
		return func() {
			for i, row := range rows {
				n := row.search()
				n.asked, n.found = f, found[i]
			}
		}
	}
}

// FindsIntent reports whether the filter finds an intent, without a screen.
func (f *Filter) FindsIntent(in *account.Intent, now time.Time) bool {
	f.now = now
	return f.finds(newIntentRow(in))
}

// FindsEvent is like [Filter.FindsIntent], for an event.
func (f *Filter) FindsEvent(e *account.Event, now time.Time) bool {
	f.now = now
	return f.finds(newEventRow(e))
}

func (f *Filter) finds(row searched) bool {
	return hold(f.terms, row, f.now) && hold(f.aging, row, f.now)
}

// hold reports whether all of the terms hold for a row.
func hold(terms []term, row searched, now time.Time) bool {
	for i := range terms {
		found := false
		for j := range terms[i].any {
			if found = terms[i].any[j].holds(row, now); found {
				break
			}
		}
		if found == terms[i].not {
			return false
		}
	}
	return true
}

func matchRow[T searched](row T, filter any) bool {
	f, ok := filter.(*Filter)
	return !ok || f.matches(row)
}
