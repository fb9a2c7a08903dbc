package command

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/ui/wording"
)

// table prints an answer, one object or several, one per line. Columns are paths in
// the JSON; a column that is empty in every line is left out.
func table(columns ...string) printer {
	return func(w io.Writer, answer []byte) error {
		rows := gjson.ParseBytes(answer)
		if !rows.IsArray() {
			rows = gjson.Parse("[" + rows.Raw + "]")
		}
		return printRows(w, rows.Array(), columns)
	}
}

func printRows(w io.Writer, rows []gjson.Result, columns []string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "none")
		return err
	}
	lines := make([][]string, len(rows)+1)
	for _, column := range columns {
		shown := false
		cells := []string{columnTitle(column)}
		for _, row := range rows {
			text := cell(row.Get(column), column)
			shown = shown || text != ""
			cells = append(cells, text)
		}
		for i := range lines {
			if shown {
				lines[i] = append(lines[i], cells[i])
			}
		}
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(out, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
	return out.Flush()
}

// columnTitle names a column for people: failureReason.code becomes failureReason.
func columnTitle(column string) string {
	name, _, nested := strings.Cut(column, ".")
	switch {
	case column == "tookNs":
		return "took"
	case nested && name == "data":
		return strings.TrimPrefix(column, "data.")
	case nested && name == "source":
		return "about"
	case nested:
		return name
	}
	return column
}

// cell is a value for people, scrubbed and shortened.
func cell(v gjson.Result, column string) string {
	switch {
	case v.Get("amountSubunits").Exists():
		return dollarsText(v.Get("amountSubunits").Int())
	case !v.Exists() || v.Type == gjson.Null:
		return ""
	case column == "tookNs":
		return wording.Took(time.Duration(v.Int()))
	case column == "limit" && v.Int() < 0:
		return "none"
	case column == "remaining" && v.Int() < 0: // there is no limit
		return ""
	}
	const longest = 80
	text := []rune(api.MaskAddress(api.Scrub(v.String())))
	if len(text) > longest {
		return string(text[:longest-1]) + "…"
	}
	return string(text)
}

func dollarsText(cents int64) string { return api.Money{Currency: "USD", Subunits: cents}.Readable() }

func printBalance(w io.Writer, answer []byte) error {
	left := gjson.GetBytes(answer, "amountSubunits")
	text := dollarsText(left.Int()) + " left for drawdown"
	if left.Type == gjson.Null {
		text = "the drawdown balance never runs out"
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// printState prints the overview: counts, limits, endpoints.
func printState(w io.Writer, answer []byte) error {
	state := gjson.ParseBytes(answer)
	var rows []fact
	state.ForEach(func(name, value gjson.Result) bool {
		text := value.String()
		if value.IsObject() {
			var parts []string
			value.ForEach(func(kind, n gjson.Result) bool {
				parts = append(parts, kind.String()+" "+n.String())
				return true
			})
			text = cmp.Or(strings.Join(parts, ", "), "none")
		}
		if !value.IsArray() {
			rows = append(rows, fact{string(api.Scrub(name.String())), text})
		}
		return true
	})
	if _, err := fmt.Fprintln(w, facts("", rows...)); err != nil {
		return err
	}
	if err := printRows(w, state.Get("buckets").Array(), []string{"name", "limit", "remaining", "resetSeconds"}); err != nil {
		return err
	}
	fmt.Fprint(w, "\nendpoints: ")
	endpoints := state.Get("webhookEndpoints").Array()
	if len(endpoints) > 0 {
		fmt.Fprintln(w)
	}
	return printRows(w, endpoints, []string{"id", "url", "verified", "delivered", "failures", "lost", "lastError"})
}
