package command

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
)

// ownThemes makes a configuration folder with theme files.
func ownThemes(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", root)
	folder := filepath.Join(root, "tillwatch", "themes")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, words bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &words)
	return code, out.String(), words.String()
}

// invokeUntil runs a command until a line that it prints is as wanted.
func invokeUntil(t *testing.T, wanted func(line string) bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	printed, out := io.Pipe()
	var words bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		defer out.Close()
		ended <- run(ctx, args, strings.NewReader(""), out, &words)
	}()
	var all strings.Builder
	for lines := bufio.NewReader(printed); ; {
		line, err := lines.ReadString('\n')
		if all.WriteString(line); err != nil {
			break
		}
		if wanted(line) {
			end()
		}
	}
	return <-ended, all.String(), words.String()
}

func TestAPreviewShowsEveryStateInTheTerminalsColours(t *testing.T) {
	theme, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		profile    colorprofile.Profile
		with, none string
	}{
		{colorprofile.TrueColor, "38;2;232;176;75", "38;5;"},
		{colorprofile.ANSI256, "38;5;", "38;2;"},
		{colorprofile.ANSI, ";93", "38;"},
		{colorprofile.ASCII, "◆ awaiting", "3"}, // no colour, yet all words
	}
	for _, c := range cases {
		line := preview("dark", theme.For(c.profile), 200)
		if ansi.StringWidth(line) != previewWidth {
			t.Errorf("%v: %d wide", c.profile, ansi.StringWidth(line))
		}
		for _, want := range []string{"dark", "◌ retrieving", "◆ awaiting", "▸ placing", "✓ completed", "✕ failed", c.with} {
			if !strings.Contains(line, want) {
				t.Errorf("%v: no %q in %q", c.profile, want, line)
			}
		}
		if c.profile == colorprofile.ASCII {
			line = strings.ReplaceAll(line, "38m ", "") // the age in the row
		}
		if strings.Contains(line, c.none) {
			t.Errorf("%v: %q in %q", c.profile, c.none, line)
		}
	}
	if narrow := preview("dark", theme, 40); ansi.StringWidth(narrow) != 40 {
		t.Errorf("on a narrow terminal it is %d wide", ansi.StringWidth(narrow))
	}
}

func TestAPrintedThemeIsAStartForOnesOwn(t *testing.T) {
	folder := ownThemes(t, nil)
	for _, name := range themes.Names() {
		code, out, words := invoke(t, "themes", "show", name)
		if code != exitDone {
			t.Fatalf("%s: exit %d: %s", name, code, words)
		}
		path := filepath.Join(folder, "own.toml")
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		own, err := themeLibrary().Load("own")
		if err != nil {
			t.Fatalf("%s: %v:\n%s", name, err, out)
		}
		want, err := themes.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		want.Name = "own"
		for _, profile := range []colorprofile.Profile{colorprofile.ANSI256, colorprofile.ANSI} {
			if got, want := preview("own", own.For(profile), 96), preview("own", want.For(profile), 96); got != want {
				t.Errorf("%s: the printed theme looks like %q, want %q", name, got, want)
			}
		}
	}
	if code, _, words := invoke(t, "themes", "show", "neon"); code != exitUsage || !strings.Contains(words, "default, dark") {
		t.Errorf("an unknown name: exit %d: %s", code, words)
	}
}

func TestOnlyAThemeIsShownAndNothingOfItSteersTheTerminal(t *testing.T) {
	folder := ownThemes(t, map[string]string{
		"secret.toml": "api_key = \"sk-hush\"\n", "binary.toml": "\x1b]0;owned\x07\x00", "hostile.toml": "base = \"dark\" # \u202egnp.\u200bexe\n[colors]\ntext = \"red\"\n",
	})
	passwords := filepath.Join(t.TempDir(), "passwords")
	writeFile(t, passwords, "root:hush:0\n")
	for _, name := range []string{"secret", "binary", filepath.Join(folder, "binary.toml"), passwords, t.TempDir() + "/", filepath.Join(folder, "none.toml")} {
		code, out, words := invoke(t, "themes", "show", name)
		if code != exitUsage || out != "" || strings.Contains(words, "hush") || strings.ContainsAny(words, "\x1b\x07") || strings.Count(words, "\n") != 1 {
			t.Errorf("%s: exit %d, prints %q and says %q, want one sentence", name, code, out, words)
		}
	}
	code, out, words := invoke(t, "themes", "show", "hostile")
	if want := "base = \"dark\" # gnp.exe\n[colors]\ntext = \"red\"\n"; code != exitDone || out != want {
		t.Errorf("exit %d, prints %q and says %q, want %q", code, out, words, want)
	}
}

func TestAThemeIsReadAgainOnceItsFileIsWhole(t *testing.T) {
	t.Parallel()
	library := themes.Library{Folder: t.TempDir()}
	put := func(name, content string) {
		t.Helper()
		writeFile(t, filepath.Join(library.Folder, name), content)
	}
	put("mine.toml", "base = \"ground\"\n[colors]\naccent = \"red\"\n")
	put("ground.toml", "base = \"dark\"\n")
	theme, files, err := library.LoadFiles("mine")
	if err != nil || theme.Accent != ansi.Red {
		t.Fatal(theme, err)
	}
	changes := make(chan themes.Change, 8)
	owned(t, func(ctx context.Context) error {
		followTheme(ctx, library, "mine", themes.Change{Theme: theme}, files, func(c themes.Change) { changes <- c })
		return nil
	})
	next := func(what string, is func(themes.Change) bool) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case c := <-changes:
				if is(c) {
					return
				}
			case <-late:
				t.Fatalf("nothing mentions %s", what)
			}
		}
	}
	put("mine.toml", "base = \"ground\"\n[colors]\naccent = \"green\"\n")
	next("a change", func(c themes.Change) bool { return c.Err == nil && c.Theme.Accent == ansi.Green })
	put("mine.toml", "base = \"ground\"\n[colors]\naccent = \"gr")
	next("a broken line, with the theme as it was", func(c themes.Change) bool {
		return c.Err != nil && strings.Contains(c.Err.Error(), "line 3") && c.Theme.Accent == ansi.Green
	})
	put("mine.toml", "base = \"ground\"\n[colors]\naccent = \"bright blue\"\n")
	next("the mended line", func(c themes.Change) bool { return c.Err == nil && c.Theme.Accent == ansi.BrightBlue })
	put("ground.toml", "base = \"light\"\n")
	next("a change of the base", func(c themes.Change) bool {
		return c.Err == nil && !c.Theme.Dark && c.Theme.Accent == ansi.BrightBlue
	})
	if err := os.Remove(filepath.Join(library.Folder, "ground.toml")); err != nil {
		t.Fatal(err)
	}
	next("a lost base", func(c themes.Change) bool { return c.Err != nil && !c.Theme.Dark })
	put("ground.toml", "base = \"dark\"\n")
	next("the base that is back", func(c themes.Change) bool { return c.Err == nil && c.Theme.Dark })
	put("mine.toml", "base = \"./none/ground.toml\"\n")
	next("a base in a folder that is not there", func(c themes.Change) bool { return c.Err != nil })
	put("mine.toml", "base = \"light\"\n")
	next("another base", func(c themes.Change) bool { return c.Err == nil && !c.Theme.Dark })
}

func TestAnEmbeddedThemeIsNotFollowed(t *testing.T) {
	theme, files, err := themes.Library{Folder: t.TempDir()}.LoadFiles("nord")
	if err != nil {
		t.Fatal(err)
	}
	followTheme(t.Context(), themes.Library{}, "nord", themes.Change{Theme: theme}, files, func(themes.Change) { t.Error("reported a change") }) // returns
}

func TestTheChoiceOfThemesHoldsEachNameOnce(t *testing.T) {
	ownThemes(t, map[string]string{
		"dark.toml": "base = \"dark\"\n", "twin.toml": "name = \"nord\"\nbase = \"light\"\n", "mine.toml": "base = \"light\"\n",
	})
	chosen := themes.Theme{Name: "from a path"}
	seen := map[string]int{}
	for _, theme := range choice(themeLibrary(), chosen) {
		seen[theme.Name]++
	}
	for _, name := range append(themes.Names(), "mine", "from a path") {
		if seen[name] != 1 {
			t.Errorf("%s is there %d times", name, seen[name])
		}
	}
	if len(seen) != len(themes.Names())+2 {
		t.Errorf("choice %v", seen)
	}
}

func TestAnyNoColorMeansNoColour(t *testing.T) {
	cases := []struct {
		name, environment string
		args              []string
		want              string
	}{
		{"nothing is said", "", []string{"demo"}, ""},
		{"a word that is no number", "yes", nil, "1"},
		{"zero counts as well: it is not empty", "0", nil, "1"},
		{"the flag", "", []string{"demo", "--no-color"}, "1"},
		{"the flag behind the end of flags", "", []string{"demo", "--", "--no-color"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", c.environment)
			forceNoColor(c.args)
			if got := os.Getenv("NO_COLOR"); got != c.want {
				t.Errorf("NO_COLOR=%q, want %q", got, c.want)
			}
		})
	}
	t.Run("the dashboard is told", func(t *testing.T) {
		t.Setenv("NO_COLOR", "yes")
		if !colourless(newRoot()) {
			t.Error("not by the environment")
		}
		t.Setenv("NO_COLOR", "")
		root := newRoot()
		if colourless(root) {
			t.Error("without anybody saying so")
		}
		if err := root.ParseFlags([]string{"--no-color"}); err != nil || !colourless(root) {
			t.Errorf("not by the flag: %v", err)
		}
	})
}
