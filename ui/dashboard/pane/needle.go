package pane

import "strings"

// searched is a row that can be found.
type searched interface {
	measured
	search() *needle
}

// needle is a row's text made ready to be searched, in lower case.
type needle struct {
	all  string
	ends [inMore - 1]int32 // of the columns in all but the last

	asked *Filter // that last looked for it and took long; nil: none did
	found bool    // by that
}

// search makes a row that holds a needle one that can be found.
func (n *needle) search() *needle { return n }

// between stands between two columns. It ends a line: no dot of a regular expression
// reaches from one into the next.
const between = "\n"

func newNeedle(state, place, name, id, more string) needle {
	columns := [inMore]string{state, place, name, id, more}
	for i, text := range columns {
		columns[i] = strings.ToLower(text)
	}
	n := needle{all: strings.Join(columns[:], between)}
	end := -len(between)
	for i := range n.ends {
		end += len(between) + len(columns[i])
		n.ends[i] = int32(end)
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

// edge stands around each text of a column that can be asked for as a whole.
const edge = "\n"

// edged is texts in a column that can be asked for as a whole.
func edged(texts ...string) string {
	return edge + strings.ReplaceAll(strings.Join(texts, edge), `"`, "") + edge
}
