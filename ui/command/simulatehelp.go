package command

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/simulator"
)

// simulateHelp describes what the stand-in does beyond the contract, from its own
// tables.
func simulateHelp() string {
	var b strings.Builder
	b.WriteString("Run a stand-in for the service: the whole contract over real HTTP, with signed webhooks and a shop that runs by itself. " +
		"The API key comes from TILLWATCH_API_KEY, the signing secret from TILLWATCH_SIGNING_SECRET (of several lines the first signs); " +
		"if unset, they are made for this run and printed. Wrong answers of webhook receivers are printed on stderr.\n\n" +
		"A product URL whose path ends in /magic/NAME, on any host, decides what happens to an intent:\n")
	lines := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range simulator.Magics() {
		fmt.Fprintf(lines, "  %s\t%s\n", m.Name, m.Does)
	}
	lines.Flush() // to memory: cannot fail
	b.WriteString("NAME may also be a failure code; with ?while=placing, the intent fails while its order is placed:\n")
	b.WriteString(folded(simulator.FailureCodes(), "  ") + "\n\nThe control API takes JSON and the same key, and spends no quota:\n")
	for _, c := range simulator.Controls() {
		fmt.Fprintf(lines, "  %s %s\t%s\n", c.Method, c.Path, c.Does)
	}
	lines.Flush()
	b.WriteString("The fields of the bodies (GET /control/openapi.json explains them):\n")
	for _, c := range simulator.Controls() {
		if len(c.Fields) > 0 {
			b.WriteString("  " + c.Path + "\n" + folded(c.Fields, "    ") + "\n")
		}
	}
	b.WriteString("\nA key may be limited to scopes; if it lacks one, the answer is 403:\n")
	return b.String() + folded(simulator.Scopes(), "  ")
}

// folded joins words with commas into indented lines.
func folded[T ~string](words []T, indent string) string {
	const width = 108
	lines := ansi.Wordwrap(strings.Join(asStrings(words), ", "), width-len(indent), "")
	return indent + strings.ReplaceAll(lines, "\n", "\n"+indent)
}
