package pane

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// Filter is what a person typed to find rows: terms that must all hold, with blanks
// between them. A term is a word or several of which any will do, with commas between
// them ("failed,expired"); behind "!" none may hold. A word may stand behind a field,
// which counts for those that follow in the term as well ("state:failed,completed"),
// or be a regular expression ("/gel.*pen/"); a figure has a bound ("total>100",
// "age>10m"). What stands in quotes is one word, whatever it holds.
type Filter struct {
	Text string
	// Wrong says what is not understood; "" when all is. Such a term hides
	// nothing.
	Wrong string
	// Broken says that what is wrong is a regular expression.
	Broken bool

	terms []term
	aging []term // those that ask for ages: they find other rows as time goes on
	slow  bool   // terms ask for expressions, so that a row is told whether it was found
	now   time.Time
}

type term struct {
	not bool
	any []alternative
}

// alternative is one of what a term asks for: a text, an expression or a bound.
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

// asks reports whether anything of the filter is understood, so that it hides rows.
func (f *Filter) asks() bool { return len(f.terms)+len(f.aging) > 0 }

// Aging reports whether the filter finds other rows as time goes on.
func (f *Filter) Aging() bool { return f != nil && len(f.aging) > 0 }

// Slow reports whether it takes long to look at many rows.
func (f *Filter) Slow() bool { return f != nil && f.slow }

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
		rest, not := strings.CutPrefix(word, "!")
		if rest == "" {
			continue
		}
		p := termParser{fields: fields}
		p.read(rest)
		if p.wrong == "" && len(p.any) > 0 {
			if p.asksFor(func(a alternative) bool { return a.bound != nil && a.bound.figure == age }) {
				f.aging = append(f.aging, term{not, p.any})
			} else {
				f.terms = append(f.terms, term{not, p.any})
			}
			f.slow = f.slow || p.asksFor(func(a alternative) bool { return a.like != nil && a.like.compiled != nil })
		}
		if f.Wrong == "" {
			f.Wrong = p.wrong
		}
		f.Broken = f.Broken || p.broken
	}
	if !f.asks() && f.Wrong == "" {
		return nil
	}
	return f
}

// terms divides a text at blanks.
func terms(text string) iter.Seq[string] { return divided(text, " \t") }

// divided divides a text at the separators that are not within quotes or an
// expression, and leaves out what is empty.
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

// termParser reads the alternatives of a term, until one is wrong.
type termParser struct {
	fields []Field
	named  *Field // the field that the next word belongs to; nil: none
	op     string // behind it
	any    []alternative
	wrong  string
	broken bool // the wrong one is an expression
}

func (p *termParser) asksFor(what func(alternative) bool) bool {
	return slices.ContainsFunc(p.any, what)
}

func (p *termParser) read(term string) {
	unanswered := "" // a field that no word has followed yet
	for word := range divided(term, ",") {
		if rest, is := p.field(word); is {
			word, unanswered = rest, p.asks()
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
			unanswered = ""
		}
	}
	p.wrong = unanswered
}

// field takes the name of a field from a word, if one stands before it.
func (p *termParser) field(word string) (rest string, is bool) {
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

// asks says what has to follow the field.
func (p *termParser) asks() string {
	switch {
	case p.named == nil:
		return ""
	case p.named.figure != noFigure:
		return p.named.Name + p.op + ": " + missing(p.named.figure)
	}
	return p.named.Name + ": write a word after it"
}

// word takes one of the words that will do.
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
	if inner, is := within(word); is {
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

// filterTable sets the filter of a table.
func filterTable[T any](t *table.Table[T], f *Filter, now time.Time) {
	if f == nil {
		t.SetFilter(nil)
		return
	}
	f.now = now
	t.SetFilter(f)
}

// matches reports whether the filter finds a row. A row stands in several tables: it
// keeps the answer where that took long, but for what changes with its age.
func (f *Filter) matches(row searched) bool {
	if !f.slow {
		return f.finds(row)
	}
	n := row.search()
	if n.asked != f {
		n.asked, n.found = f, f.hold(f.terms, row)
	}
	return n.found && f.hold(f.aging, row)
}

// FindsIntent reports whether the filter finds an intent, without a screen.
func (f *Filter) FindsIntent(in *account.Intent, now time.Time) bool {
	f.now = now
	return f.finds(newIntentRow(in))
}

// FindsEvent is [Filter.FindsIntent] for an event.
func (f *Filter) FindsEvent(e *account.Event, now time.Time) bool {
	f.now = now
	return f.finds(newEventRow(e))
}

func (f *Filter) finds(row searched) bool { return f.hold(f.terms, row) && f.hold(f.aging, row) }

// hold reports whether all of the terms hold for a row.
func (f *Filter) hold(terms []term, row searched) bool {
	for i := range terms {
		found := false
		for j := range terms[i].any {
			if found = terms[i].any[j].holds(row, f.now); found {
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
