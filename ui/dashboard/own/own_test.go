package own

import (
	"slices"
	"strings"
	"testing"
)

func TestArgumentsAreFilledInAndNeverDivided(t *testing.T) {
	row := map[string]string{"id": "ci_1", "merchant": `a; rm -rf / "$(x)" 'y'`, "reference": "-rf", "order": "", "url": "https://acme.example/x?y=z&q=1", "tracking": "A\x1b[2J\n\u202eB"}
	cases := []struct {
		name string
		args []string
		want []string
		says string
	}{
		{"none", nil, nil, ""},
		{"a whole argument", []string{"{id}"}, []string{"ci_1"}, ""},
		{"parts of one", []string{"--to={merchant}/{id}"}, []string{`--to=a; rm -rf / "$(x)" 'y'/ci_1`}, ""},
		{"a shell's characters", []string{"{merchant}", "{url}"}, []string{`a; rm -rf / "$(x)" 'y'`, "https://acme.example/x?y=z&q=1"}, ""},
		{"what a terminal would act on", []string{"{tracking}"}, []string{"A[2J B"}, ""},
		{"a value is not filled in again", []string{"{id}", "{{id}}"}, []string{"ci_1", "{ci_1}"}, ""},
		{"an empty value", []string{"{order}"}, nil, "note: this row has no {order}"},
		{"a row without anything", []string{"x{nothing}"}, nil, "this row has no {nothing}"},
		{"a value that would be an option", []string{"{reference}"}, nil, `{reference} is "-rf" here, which note would read as an option`},
		{"the same behind an option's name", []string{"--ref={reference}"}, []string{"--ref=-rf"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Command{Name: "note", Program: "note", Args: c.args}.Argv(row)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%q, %v; want %q", got, err, c.says)
				}
				return
			}
			if err != nil || !slices.Equal(got[1:], c.want) || got[0] != "note" {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestACommandThatCouldNeverRunIsRefused(t *testing.T) {
	cases := []struct {
		name    string
		command Command
		says    string
	}{
		{"no name", Command{Program: "x"}, "it has no name"},
		{"a name that cannot be shown", Command{Name: "a\x1b[2J", Program: "x"}, "cannot be shown"},
		{"no program", Command{Name: "a"}, "it has no program"},
		{"a program of the row", Command{Name: "a", Program: "/bin/{merchant}"}, "never the program"},
		{"an unknown place", Command{Name: "a", Program: "x", Args: []string{"{buyer}"}}, "there is no {buyer} to fill in: there are {id}, {merchant}"},
		{"a NUL", Command{Name: "a", Program: "x", Args: []string{"a\x00b"}}, "NUL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.command.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
	if err := (Command{Name: "a", Program: "x", Args: []string{"{id}", "{}", "{ID}"}}).Check(); err != nil {
		t.Errorf("braces around something else: %v", err)
	}
}
