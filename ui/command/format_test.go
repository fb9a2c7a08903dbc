package command

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestWhatCommandsPrintIsDescribed holds that every field of a line that a command prints with --json stands in the
// description of the form.
func TestWhatCommandsPrintIsDescribed(t *testing.T) {
	text, err := os.ReadFile("../../api/account/form/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, described, _ := strings.Cut(string(text), "## What the commands print")
	for command, line := range map[string]reflect.Type{
		"status": reflect.TypeFor[snapshot](), "intent": reflect.TypeFor[intentLine](), "order": reflect.TypeFor[orderLine](),
		"confirm": reflect.TypeFor[confirmReport](), "events": reflect.TypeFor[eventLine](),
		"forward": reflect.TypeFor[attemptLine](), "wait": reflect.TypeFor[waitReport](),
		"events --quarantined": reflect.TypeFor[quarantineLine](),
	} {
		for i := range line.NumField() {
			name, _, _ := strings.Cut(line.Field(i).Tag.Get("json"), ",")
			if name != "" && !strings.Contains(described, "`"+name+"`") {
				t.Errorf("%q of %s is not described", name, command)
			}
		}
	}
}
