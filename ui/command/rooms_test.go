package command

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRoomsImportOnlyWhatLiesBelowThem holds the direction of the data: api and
// relay, then account, then ui.
func TestRoomsImportOnlyWhatLiesBelowThem(t *testing.T) {
	// Each room with what it may import of tillwatch; the longest match decides.
	// A trailing slash stands for everything inside.
	allowed := map[string][]string{
		".":                   {"ui/command"},
		"api":                 {"api/quota"},
		"api/quota":           {},
		"api/durable":         {},
		"api/listener":        {},
		"api/delivery":        {"api"},
		"api/proxy":           {"api", "api/listener", "api/quota"},
		"api/account":         {"api", "api/account/form", "api/durable", "api/quota"},
		"api/confirm":         {"api", "api/durable", "api/quota"},
		"api/simulator":       {"api", "api/delivery", "api/listener", "api/quota", "api/simulator"},
		"relay":               {"api", "api/delivery", "api/durable", "api/listener", "api/quota", "relay/journal", "relay/signature"},
		"relay/signature":     {"api"},
		"relay/forward":       {"api", "api/delivery", "api/durable", "api/quota", "relay", "relay/signature"},
		"relay/journal":       {"api", "api/durable", "relay/journal", "relay/journal/groupcommit"},
		"themes":              {},
		"ui/config":           {"api", "api/account", "api/quota", "relay", "ui/notify", "ui/wording"},
		"ui/session":          {"api", "api/account", "api/account/form", "api/confirm", "api/quota", "relay", "ui/attention", "ui/config"},
		"ui/dashboard":        {"api", "api/quota", "api/account", "api/confirm", "api/delivery", "themes", "ui/attention", "ui/dashboard/", "ui/notify", "ui/process", "ui/recording", "ui/timeline", "ui/weblink", "ui/wording"},
		"ui/doctor":           {"api", "api/quota", "relay", "relay/journal", "ui/config", "ui/dashboard/layout", "ui/session", "ui/wording"},
		"ui/attention":        {"api", "api/account", "api/durable", "ui/process"},
		"ui/recording":        {"api", "api/quota", "api/account", "api/account/form"},
		"ui/notify":           {"api", "api/account", "ui/wording"},
		"ui/plain":            {"api", "api/account", "ui/wording"},
		"ui/timeline":         {"api", "api/account", "ui/wording"},
		"ui/wording":          {"api", "api/quota", "api/account"},
		"ui/weblink":          {},
		"ui/process":          {},
		"ui/terminal":         {},
		"ui/terminal/picture": {"api", "ui/terminal"},
		"ui/measure":          {"api", "api/", "relay", "relay/", "ui/terminal"},
		"ui/command":          {"api", "api/", "relay", "relay/", "themes", "ui/attention", "ui/config", "ui/dashboard", "ui/dashboard/", "ui/doctor", "ui/notify", "ui/plain", "ui/process", "ui/recording", "ui/session", "ui/timeline", "ui/wording"},
	}
	for _, p := range listPackages(t) {
		room := p.room
		for room != "." && allowed[room] == nil {
			room = path.Dir(room)
		}
		if room == "." && p.room != "." {
			t.Errorf("%s stands in no room", p.room)
			continue
		}
		for _, imported := range p.imports {
			if !permits(allowed[room], imported) {
				t.Errorf("%s imports %s; %s may import %v", p.room, imported, room, allowed[room])
			}
		}
	}
}

// TestARecordingHasNoWayOut holds that what plays a recording can reach no service
// and confirm nothing: neither it nor what it builds on of tillwatch, the client's
// package aside, which it only has decode.
func TestARecordingHasNoWayOut(t *testing.T) {
	command := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./ui/recording")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var p struct{ Imports, Deps []string }
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	for _, i := range p.Imports {
		if i == "net" || strings.HasPrefix(i, "net/") || i == "os/exec" || i == "syscall" {
			t.Errorf("ui/recording imports %s", i)
		}
	}
	for _, d := range p.Deps {
		if room := inside(d); room != d && room != "api" && room != "api/quota" && room != "api/account" && room != "api/account/form" && room != "api/durable" {
			t.Errorf("ui/recording builds on %s", room)
		}
	}
	if len(p.Imports) == 0 || len(p.Deps) == 0 {
		t.Error("nothing was listed")
	}
}

func permits(allowed []string, imported string) bool {
	for _, a := range allowed {
		if imported == a || strings.HasSuffix(a, "/") && strings.HasPrefix(imported, a) {
			return true
		}
	}
	return false
}

type listed struct {
	room    string   // path inside the module
	imports []string // of tillwatch, tests left out
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		next := listed{room: inside(p.ImportPath)}
		for _, i := range p.Imports {
			if i == "tillwatch" || strings.HasPrefix(i, "tillwatch/") {
				next.imports = append(next.imports, inside(i))
			}
		}
		packages = append(packages, next)
	}
	if len(packages) < 10 {
		t.Fatalf("found only %d packages", len(packages))
	}
	return packages
}

func inside(importPath string) string {
	if importPath == "tillwatch" {
		return "."
	}
	return strings.TrimPrefix(importPath, "tillwatch/")
}

// TestOnlyTheAPIDeclaresTextSafe keeps everyone else from turning bytes that
// came from outside into text for the terminal without scrubbing them.
func TestOnlyTheAPIDeclaresTextSafe(t *testing.T) {
	conversion := regexp.MustCompile(`api\.(Text|ID)\(([^)]*)`)
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, found := range conversion.FindAllStringSubmatch(string(source), -1) {
			if !strings.Contains(found[2], "Scrub(") && !strings.HasPrefix(found[2], `"`) {
				t.Errorf("%s: %s) declares text safe that nobody scrubbed", name, found[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommentsCiteHeadingsOfTheContract holds that "contract, Limits" names a
// heading of api/CONTRACT.md.
func TestCommentsCiteHeadingsOfTheContract(t *testing.T) {
	text, err := os.ReadFile("../../api/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		headings[heading[1]] = true
	}
	citation := regexp.MustCompile(`\(contract, ([A-Z][a-z]*(?: [A-Za-z]+)*)`)
	cited := 0
	err = filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		joined := regexp.MustCompile(`\n\s*//\s`).ReplaceAllString(string(source), " ")
		for _, c := range citation.FindAllStringSubmatch(joined, -1) {
			if cited++; !headings[c[1]] {
				t.Errorf("%s cites %q, which is no heading of api/CONTRACT.md", name, c[1])
			}
		}
		return nil
	})
	if err != nil || cited == 0 {
		t.Errorf("%d citations, %v", cited, err)
	}
}
