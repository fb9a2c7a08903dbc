package pane

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// expression is a regular expression of a filter, in lower case like the texts of rows. A
// compiled one takes microseconds a row, a plain search for what it needs a hundredth of that.
type expression struct {
	compiled *regexp.Regexp // nil: a text with any of needs matches
	needs    []string       // every match contains one of them; empty: unknown
}

func (e *expression) finds(text string) bool {
	if len(e.needs) > 0 && !slices.ContainsFunc(e.needs, func(part string) bool { return strings.Contains(text, part) }) {
		return false
	}
	return e.compiled == nil || e.compiled.MatchString(text)
}

// expressionAt returns the length of the expression at the beginning of text, with its
// slashes; 0 if there is none. A slash within one is written \/: a path is no expression.
func expressionAt(text string) int {
	for i := 1; i < len(text) && text[0] == '/'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '/':
			if i+1 == len(text) || strings.IndexByte(" \t,", text[i+1]) >= 0 {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// within returns the text between the slashes of an expression. While a person types it,
// the last slash is missing.
func within(word string) (inner string, ok bool) {
	switch {
	case !strings.HasPrefix(word, "/"):
		return "", false
	case expressionAt(word) == len(word):
		return word[1 : len(word)-1], true
	}
	return word[1:], !strings.Contains(strings.ReplaceAll(word[1:], `\/`, ""), "/")
}

// largestExpression bounds the instructions of a compiled expression, and so the time for a
// row.
const largestExpression = 500

// newExpression compiles an expression (RE2); wrong says what is wrong with it, and where.
func newExpression(text string) (e *expression, wrong string) {
	parsed, err := syntax.Parse(text, (syntax.Perl|syntax.FoldCase)&^syntax.OneLine)
	if err, ok := err.(*syntax.Error); ok {
		wrong = "/" + text + "/: " + err.Code.String()
		if at := strings.Index(text, err.Expr); at >= 0 && len(err.Expr) < len(text) {
			wrong += " at character " + strconv.Itoa(len([]rune(text[:at]))+1) + ", " + err.Expr
		}
		return nil, wrong
	}
	parsed = parsed.Simplify()
	lower(parsed)
	if literal(parsed) {
		return &expression{needs: needed(parsed)}, ""
	}
	if program, err := syntax.Compile(parsed); err != nil || len(program.Inst) > largestExpression {
		return nil, "/" + text + "/: it is too large"
	}
	compiled, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, "/" + text + "/: " + err.Error()
	}
	return &expression{compiled, needed(parsed)}, ""
}

// literal reports whether an expression is one text or several alternative ones.
func literal(e *syntax.Regexp) bool {
	if e.Op == syntax.OpAlternate {
		return !slices.ContainsFunc(e.Sub, func(part *syntax.Regexp) bool { return part.Op != syntax.OpLiteral })
	}
	return e.Op == syntax.OpLiteral
}

// lower turns an expression that ignores case into one in lower case, as rows are: that is
// many times faster.
func lower(e *syntax.Regexp) {
	if e.Op == syntax.OpLiteral {
		for i, r := range e.Rune {
			e.Rune[i] = unicode.ToLower(r)
		}
		e.Flags &^= syntax.FoldCase
	}
	for _, part := range e.Sub {
		lower(part)
	}
}

// needed returns texts of which every match contains at least one; none if it finds no such
// texts.
func needed(e *syntax.Regexp) (texts []string) {
	switch e.Op {
	case syntax.OpLiteral:
		return []string{string(e.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpConcat:
		for _, part := range e.Sub {
			if found := needed(part); shortest(found) > shortest(texts) {
				texts = found
			}
		}
	case syntax.OpAlternate:
		for _, part := range e.Sub {
			found := needed(part)
			if len(found) == 0 {
				return nil
			}
			texts = append(texts, found...)
		}
	}
	return texts
}

// shortest returns the length of the shortest text; 0 if there is none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
