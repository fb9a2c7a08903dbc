package themes

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// folder makes a folder of theme files.
func folder(t *testing.T, files map[string]string) Library {
	t.Helper()
	l := Library{Folder: t.TempDir()}
	for name, content := range files {
		l.write(t, name, content)
	}
	return l
}

func (l Library) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(l.Folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAThemeOfOnesOwnChangesAnother(t *testing.T) {
	l := folder(t, map[string]string{
		"mine.toml":    "base = \"dark\"\n[colors]\naccent = \"#ff8800\"\ntext = \"default\"\n[basic]\naccent = \"red\"\n",
		"further.toml": "name = \"Further\"\nbase = \"mine\"\ndark = false\n[colors]\nmuted = \"cyan\"\n",
		"beside.toml":  "\ufeffbase = \"./further.toml\"\n",
		"dark.toml":    "base = \"dark\"\n[colors]\nbad = \"#ff0000\"\n",
	})
	dark := find(t, "dark")

	mine, err := l.Load("mine")
	if err != nil {
		t.Fatal(err)
	}
	if mine.Name != "mine" || !mine.Dark || mine.Accent != rgb(0xff8800) || mine.Text != nil || mine.Muted != dark.Muted {
		t.Errorf("mine = %+v", mine)
	}
	if basic := mine.For(colorprofile.ANSI); basic.Accent != ansi.Red || basic.Awaiting != ansi.BrightYellow || basic.Name != "mine" {
		t.Errorf("mine in sixteen colours = %+v", basic)
	}
	if find(t, "dark").For(colorprofile.ANSI).Accent == ansi.Red {
		t.Error("the base itself has changed")
	}
	further, err := l.Load("further")
	if err != nil || further.Name != "Further" || further.Dark || further.Accent != mine.Accent || further.Muted != ansi.Cyan {
		t.Errorf("further = %+v, %v", further, err)
	}
	beside, err := l.Load(filepath.Join(l.Folder, "beside.toml"))
	if err != nil || beside.Name != "beside" || beside.Muted != ansi.Cyan {
		t.Errorf("beside = %+v, %v", beside, err)
	}
	changed, err := l.Load("dark")
	if err != nil || changed.Bad != rgb(0xff0000) || changed.Text != dark.Text {
		t.Errorf("dark, changed = %+v, %v", changed, err)
	}
	if got := strings.Join(l.Names(), " "); got != strings.Join(Names(), " ")+" beside further mine" {
		t.Errorf("names = %s", got)
	}
}

func TestErrorsOfThemesNameTheFile(t *testing.T) {
	l := folder(t, map[string]string{
		"typo.toml":   "base = \"dark\"\n[colors]\nacent = \"red\"\n",
		"colour.toml": "base = \"dark\"\n[colors]\n\naccent = \"crimson\"\n",
		"lost.toml":   "dark = true\n\nbase = \"darker\"\n",
		"onto.toml":   "base = \"typo\"\n",
		"one.toml":    "base = \"two\"\n",
		"two.toml":    "base = \"one\"\n",
		"self.toml":   "base = \"self\"\n",
		"huge.toml":   strings.Repeat("#", maxFile+1),
	})
	at := func(name string) string { return filepath.Join(l.Folder, name) }
	cases := []struct {
		name, load string
		want       []string
	}{
		{"an unknown key", "typo", []string{at("typo.toml"), "line 3", `"colors.acent" is not known`}},
		{"a colour that is none", "colour", []string{at("colour.toml"), "line 4", `key "colors.accent"`, `"crimson" is not a colour`}},
		{"a base that is none", "lost", []string{at("lost.toml"), "line 3", `key "base"`, `"darker"`, "lost"}},
		{"a broken base", "onto", []string{at("onto.toml"), "line 1", at("typo.toml"), "line 3"}},
		{"a circle", "one", []string{"based on each other", at("one.toml"), at("two.toml")}},
		{"a circle of one", "self", []string{"based on"}},
		{"a huge file", "huge", []string{at("huge.toml"), "larger than 64 KiB"}},
		{"no file", "./not/there.toml", []string{"./not/there.toml", "no such file"}},
		{"a device, as a pipe", os.DevNull, []string{os.DevNull, "not a regular file"}},
		{"a folder", l.Folder, []string{l.Folder, "directory"}},
		{"no such name", "nope", []string{`"nope"`, "default, dark", "typo", "./my.toml"}},
		{"no name", "", []string{`""`, "default"}},
		{"a way out of the embedded files", "../files/dark", []string{"no such file"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := l.Load(c.load)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want it to hold %s", err, want)
				}
			}
		})
	}
}

func TestThemesWithoutASixteenColourFormAreReduced(t *testing.T) {
	theme, err := parse([]byte("name = \"x\"\n[colors]\nbackground = \"#10131a\"\nselected = \"#222c3f\"\ntext = \"#d7dce6\"\nfailed = \"#f0404b\"\nawaiting = \"yellow\"\n"), "", Find)
	if err != nil {
		t.Fatal(err)
	}
	got := theme.For(colorprofile.ANSI)
	if got.Background != nil || got.Selected != nil || got.Text != nil {
		t.Errorf("the grounds and the text = %v, %v, %v, want the terminal's own", got.Background, got.Selected, got.Text)
	}
	if _, ok := got.Failed.(ansi.BasicColor); !ok || got.Awaiting != ansi.Yellow || got.Placing != nil {
		t.Errorf("the states = %v, %v, %v", got.Failed, got.Awaiting, got.Placing)
	}
}

func TestSourceIsWhatLoads(t *testing.T) {
	l := folder(t, map[string]string{"mine.toml": "base = \"dark\"\n"})
	data, path, err := l.Source("nord")
	if err != nil || path != "" || !strings.Contains(string(data), "[colors]") {
		t.Errorf("nord: %q, %v: %s", path, err, data)
	}
	data, path, err = l.Source("mine")
	if err != nil || path != filepath.Join(l.Folder, "mine.toml") || string(data) != "base = \"dark\"\n" {
		t.Errorf("mine: %q, %v: %s", path, err, data)
	}
	if _, _, err = l.Source("nope"); err == nil {
		t.Error("a theme that is none has a source")
	}
}

func TestAThemeComesWithTheFilesThatItWasReadFrom(t *testing.T) {
	l := folder(t, map[string]string{
		"mine.toml": "base = \"ground\"\n", "ground.toml": "base = \"dark\"\n", "lost.toml": "base = \"./gone.toml\"\n", "bad.toml": "base = \"nowhere\"\n",
	})
	at := func(name string) string { return filepath.Join(l.Folder, name) }
	cases := []struct {
		name  string
		files Files
		fails bool
	}{
		{"nord", Files{}, false},
		{"mine", Files{at("mine.toml"): "base = \"ground\"\n", at("ground.toml"): "base = \"dark\"\n"}, false},
		{"lost", Files{at("lost.toml"): "base = \"./gone.toml\"\n", at("gone.toml"): ""}, true},
		{"bad", Files{at("bad.toml"): "base = \"nowhere\"\n", at("nowhere.toml"): ""}, true},
	}
	for _, c := range cases {
		if _, files, err := l.LoadFiles(c.name); !maps.Equal(files, c.files) || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v; want %v", c.name, files, err, c.files)
		}
	}
}
