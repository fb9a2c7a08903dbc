package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tillwatch/api/simulator"
)

func TestMagicAndControlAreInTheHelpAndTheDocuments(t *testing.T) {
	said := &utterances{}
	if code := run(t.Context(), []string{"simulate", "--help"}, strings.NewReader(""), said, said); code != exitDone {
		t.Fatalf("exit code %d: %s", code, said)
	}
	help := said.String()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	workbench, err := os.ReadFile("WORKBENCH.md")
	if err != nil {
		t.Fatal(err)
	}
	holds := func(text, word string) bool {
		return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(word) + `($|[^\w-])`).MatchString(text)
	}
	for _, m := range simulator.Magics() {
		if !holds(help, m.Name) || !holds(string(readme), m.Name) {
			t.Errorf("/magic/%s is not mentioned in the help or the README", m.Name)
		}
	}
	for _, c := range simulator.Controls() {
		if !strings.Contains(help, c.Method+" "+c.Path) {
			t.Errorf("%s %s is not in the help", c.Method, c.Path)
		}
		short := c.Path[strings.LastIndexByte(c.Path, '/'):]
		if !strings.Contains(string(workbench), c.Path) && !strings.Contains(string(workbench), "/{id}"+short) {
			t.Errorf("%s is not in WORKBENCH.md", c.Path)
		}
		for _, field := range c.Fields {
			if !holds(help, field) {
				t.Errorf("the field %s of %s is not in the help", field, c.Path)
			}
		}
	}
	for _, code := range simulator.FailureCodes() {
		if !holds(help, string(code)) {
			t.Errorf("/magic/%s is not in the help", code)
		}
	}
	for _, scope := range simulator.Scopes() {
		if !holds(help, string(scope)) {
			t.Errorf("the scope %s is not in the help", scope)
		}
	}
	for line := range strings.Lines(help) {
		if strings.Contains(line, "  --") {
			break // flags are the library's to lay out
		}
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 120 {
			t.Errorf("a line is %d columns wide: %s", n, line)
		}
	}
}
