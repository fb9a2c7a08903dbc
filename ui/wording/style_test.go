package wording_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDurationsHaveOneStyleEverywhere(t *testing.T) {
	drawn := regexp.MustCompile(`[0-9] (ms|s|min|h)\b|[0-9][hm] ?0[0-9][ms]`)
	written := regexp.MustCompile(`"[^"]*([0-9]|%[.0-9]*[dsvf]) (ms|s|min|h)\b[^"]*"`)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		of := map[string]*regexp.Regexp{".golden": drawn, ".go": written}[filepath.Ext(path)]
		if err != nil || of == nil || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../measure") {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if found := of.FindString(line); found != "" && !strings.HasPrefix(strings.TrimSpace(line), "//") {
				t.Errorf("%s:%d: %q is not as the others: 41ms, 5.2s, 38s, 12m, 5h", path, i+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
