package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readRoot reads a file of the repository.
func readRoot(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// only returns what the one group of pattern matches in the one place of text.
func only(t *testing.T, pattern, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%s is found in %d places", pattern, len(found))
	}
	return found[0][1]
}

// An image of Go comes with GOTOOLCHAIN=local, which refuses a module that asks for
// a newer patch than the image has.
func TestTheContainerIsBuiltByTheGoThatTheModuleAsksFor(t *testing.T) {
	asked, container := only(t, `^go (\S+)$`, readRoot(t, "go.mod")), readRoot(t, "relay/deploy/Containerfile")
	image := only(t, `^FROM golang:(\S+) AS build$`, container)
	if asked != image && !strings.HasPrefix(asked, image+".") {
		t.Errorf("the image has Go %s, the module asks for %s", image, asked)
	}
	if toolchain := only(t, `^ENV GOTOOLCHAIN=(\S+)$`, container); toolchain != "auto" {
		t.Errorf("an older image of Go %s would fetch no newer one: GOTOOLCHAIN is %s", image, toolchain)
	}
}

func TestTheContainerIsBuiltFromTheProgramAndNothingElse(t *testing.T) {
	var let []string
	for line := range strings.Lines(readRoot(t, ".dockerignore")) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "!"):
			let = append(let, line[1:])
		case line != "" && !strings.HasPrefix(line, "#") && len(let) == 0 && line != "*":
			t.Errorf("%s is left out, but not everything is first", line)
		}
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	list.Dir = filepath.Join("..", "..")
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	needed := []string{"go.mod", "go.sum", "main.go"}
	for imported := range strings.Lines(string(packages)) {
		if inside, is := strings.CutPrefix(strings.TrimSpace(imported), "tillwatch/"); is {
			room, _, _ := strings.Cut(inside, "/")
			needed = append(needed, room)
		}
	}
	slices.Sort(needed)
	slices.Sort(let)
	if needed = slices.Compact(needed); !slices.Equal(let, needed) {
		t.Errorf("the container is built from %v, the program is made of %v", let, needed)
	}
}

func TestTheUnitSaysHowItsProgramGetsThereAndIsWatched(t *testing.T) {
	unit := readRoot(t, "relay/deploy/tillwatch-relay.service")
	if put, started := only(t, `^#.*install -m 0755 tillwatch (\S+)$`, unit), only(t, `^ExecStart=(\S+) `, unit); put != started {
		t.Errorf("the program is installed as %s and started as %s", put, started)
	}
	if kind := only(t, `^Type=(\S+)$`, unit); kind != "notify" || only(t, `^WatchdogSec=(\d+)$`, unit) == "0" {
		t.Errorf("a unit of type %s hears no sign of life", kind)
	}
}
