package account

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"tillwatch/api/account/form"
)

// TestTheFormatIsDescribed holds that every field of a line stands in the format's
// description.
func TestTheFormatIsDescribed(t *testing.T) {
	text, err := os.ReadFile("form/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []reflect.Type{reflect.TypeFor[form.Header](), reflect.TypeFor[Frame](), reflect.TypeFor[Reread]()} {
		for i := range line.NumField() {
			name, _, _ := strings.Cut(line.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s.%s, %q, is not described", line.Name(), line.Field(i).Name, name)
			}
		}
	}
}
