package pane

import "strings"

// searched is a row that a filter can find.
type searched interface {
	measured
	search() *searchText
}

// searchText is the text of a row in which a filter searches, in lower case.
type searchText struct {
	all  string
	ends [inMore - 1]int32 // where each column but the last ends in all

	asked *Filter // the slow filter that last examined the row; nil: none
	found bool    // whether that filter found it
}

// search implements searched for a row that embeds its text.
func (n *searchText) search() *searchText { return n }

// between separates two columns. It is a line feed, which no dot of a regular expression
// matches.
const between = "\n"

func newSearchText(state, place, name, id, more string) searchText {
	columns := [inMore]string{state, place, name, id, more}
	for i, text := range columns {
		columns[i] = strings.ToLower(text)
	}
	n := searchText{all: strings.Join(columns[:], between)}
	end := -len(between)
	for i := range n.ends {
		end += len(between) + len(columns[i])
		n.ends[i] = int32(end)
	}
	return n
}

func (n *searchText) in(c column) string {
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

// edge surrounds each text in a column that can be matched as a whole.
const edge = "\n"

// edged returns texts for a column that can be matched as a whole.
func edged(texts ...string) string {
	return edge + strings.ReplaceAll(strings.Join(texts, edge), `"`, "") + edge
}
