package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestATableIsAlignedByWhatATerminalShows(t *testing.T) {
	got := table([]string{"NAME", "TOTAL", ""}, []string{"抹茶ラテ", "4 USD", ""}, []string{"a\x07b", "", "late"})
	if want := "NAME      TOTAL\n抹茶ラテ  4 USD\nab               late\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestASheetWrapsItsValuesAndLeavesOutWhatHasNone(t *testing.T) {
	got := sheet(fact{"api", "healthy"}, fact{"a longer label", ""}, fact{"missing", strings.Repeat("many words ", 8) + "\x07end"})
	want := "api      healthy\nmissing  " + strings.Repeat("many words ", 5) + "many words\n         many words many words end\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type weather struct {
	Sky string `json:"sky"`
}

func (w weather) text() string { return "the sky is " + w.Sky + "\n" }

func TestAReportIsPrintedAsTextOrAsJSONAlsoOfAFailure(t *testing.T) {
	isolate(t)
	several := listOf([]weather{{"grey"}, {"blue"}}, "grey, then blue\n")
	for _, c := range []struct {
		name   string
		args   []string
		found  report
		failed error
		want   string
	}{
		{"text", nil, weather{"blue"}, nil, "the sky is blue\n"},
		{"JSON", []string{"--json"}, weather{"blue"}, nil, `{"sky":"blue"}` + "\n"},
		{"several", nil, several, nil, "grey, then blue\n"},
		{"several as JSON", []string{"--json"}, several, nil, `{"sky":"grey"}` + "\n" + `{"sky":"blue"}` + "\n"},
		{"with a failure", nil, weather{"dark"}, errors.New("night"), "the sky is dark\n"},
		{"only a failure", []string{"--json"}, nil, errors.New("night"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			command := &cobra.Command{SilenceUsage: true, SilenceErrors: true,
				RunE: reporting(func(_ context.Context, _ settings, _ []string, _ streams) (report, error) { return c.found, c.failed })}
			jsonFlag(command.Flags(), "print one JSON object")
			command.SetArgs(c.args)
			command.SetOut(&out)
			if err := command.ExecuteContext(t.Context()); !errors.Is(err, c.failed) || out.String() != c.want {
				t.Errorf("%v, and it prints %q, want %q", err, out.String(), c.want)
			}
		})
	}
}
