package pane

import (
	"slices"
	"strings"

	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// column is a part of a row's text.
type column uint8

const (
	inAll column = iota
	inState
	inPlace // merchant, carrier or sender
	inName  // product or path
	inID
	inMore
)

// Field is the name of a column or figure in a filter, before a colon or a bound.
type Field struct {
	Name   string
	column column
	figure figure          // instead of a column
	values func() []string // all possible values of the column, in lower case; nil: any
	whole  bool            // "=" matches a whole text between two edges, not a part of it
}

// quoted returns a text as one word of a filter.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, "") + `"` }

func asWhole(f Field) Field {
	f.whole = true
	return f
}

func inColumn(name string, c column) Field { return Field{Name: name, column: c} }
func measures(name string, f figure) Field { return Field{Name: name, figure: f} }

// oneOf returns a field with few possible values: the known ones and those of the rows.
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

// worded returns the text by which a filter finds a state: its name on the wire, the same in
// words, and the word on the screen.
func worded[S ~string](state S, shown sign.Sign) string {
	return strings.ToLower(string(state) + " " + wording.Name(string(state)) + " " + shown.Word)
}

func wordedAll[S ~string](states []S, shown func(S) sign.Sign) (all []string) {
	for _, s := range states {
		all = append(all, worded(s, shown(s)))
	}
	return all
}

func names(fields []Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// Hint lists the fields as they are typed.
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
