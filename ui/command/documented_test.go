package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"tillwatch/ui/config"
)

// documents are the files outside the program that tell how it is called.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range []string{"README.md", "relay/README.md", "ui/command/WORKBENCH.md", "relay/deploy/tillwatch-relay.service", "relay/deploy/Containerfile"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

var (
	invocation  = regexp.MustCompile(`(?m)(?:^|[ /;])(?:tillwatch|go run \.)((?: +[^|>#\n` + "`" + `(;]+)?)`)
	entryPoint  = regexp.MustCompile(`(?m)^(?:ENTRYPOINT|  CMD) (\[.*\])$`)
	shellWord   = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^'"\s])+`)
	flagName    = regexp.MustCompile("`--([a-z-]+)")
	variable    = regexp.MustCompile(`TILLWATCH_[A-Z_]+[A-Z]`)
	codeBlock   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	unitCommand = regexp.MustCompile(`(?m)^ExecStart=(.*)$`)
)

// invocations are the commands that text shows to be typed or started.
func invocations(t *testing.T, name, text string) (all [][]string) {
	t.Helper()
	var lines []string
	switch filepath.Ext(name) {
	case ".md":
		for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
			lines = append(lines, block[1])
		}
	case ".service":
		for _, command := range unitCommand.FindAllStringSubmatch(text, -1) {
			lines = append(lines, command[1])
		}
	default:
		for _, entry := range entryPoint.FindAllStringSubmatch(text, -1) {
			var words []string
			if err := json.Unmarshal([]byte(entry[1]), &words); err != nil {
				t.Fatal(err)
			}
			all = append(all, words[1:])
		}
	}
	for _, block := range lines {
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "docker") {
				continue
			}
			for _, found := range invocation.FindAllStringSubmatch(line, -1) {
				var words []string
				for _, word := range shellWord.FindAllString(found[1], -1) {
					words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
				}
				all = append(all, words)
			}
		}
	}
	return all
}

func TestEveryDocumentedInvocationIsAccepted(t *testing.T) {
	for name, text := range documents(t) {
		all := invocations(t, name, text)
		if len(all) == 0 {
			t.Errorf("%s shows no invocation", name)
		}
		for _, words := range all {
			accepted(t, name, words)
		}
	}
}

// accepted is the command that the program takes the words of a document for.
func accepted(t *testing.T, document string, words []string) (path string) {
	t.Helper()
	command, rest, err := newRoot().Find(words)
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: tillwatch %s: %v", document, strings.Join(words, " "), err)
	}
	return command.CommandPath()
}

func TestTheDocumentedConfigurationIsTaken(t *testing.T) {
	folder := isolate(t)
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(documents(t)["README.md"], -1)
	if len(blocks) != 1 {
		t.Fatalf("the README shows %d configurations, want one", len(blocks))
	}
	path := writeConfig(t, strings.ReplaceAll(blocks[0][1], "/run/secrets", folder))
	for _, name := range []string{"staging-key", "staging-relay", "live-key"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("a-documented-"+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for profile, want := range map[string]string{"staging": "a-documented-staging-key", "live": "a-documented-live-key"} {
		s, err := load(t, "--config", path, "--profile", profile)
		if err == nil {
			err = s.RequireAccount()
		}
		if err != nil || s.APIKey.Reveal() != want || s.PollShare != 0.3 {
			t.Errorf("%s: %v, key %q, share %v", profile, err, s.APIKey.Reveal(), s.PollShare)
		}
	}
}

func TestEveryDocumentedFlagAndVariableExists(t *testing.T) {
	known := map[string]bool{}
	var gather func(*cobra.Command)
	gather = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		}
		for _, inner := range c.Commands() {
			gather(inner)
		}
	}
	gather(newRoot())
	also := []string{"TILLWATCH_CONFIG", "TILLWATCH_PROFILE", "TILLWATCH_TEST_POSTGRES"}
	for _, key := range config.Keys() {
		also = append(also, "TILLWATCH_"+strings.ToUpper(key))
	}
	for name, text := range documents(t) {
		for _, found := range flagName.FindAllStringSubmatch(text, -1) {
			if !known[found[1]] {
				t.Errorf("%s names the flag --%s, which no command has", name, found[1])
			}
		}
		for _, found := range variable.FindAllString(text, -1) {
			if !slices.Contains(also, found) {
				t.Errorf("%s names the variable %s, which nothing reads", name, found)
			}
		}
	}
}

// TestTheTableForThoseWhoComeFromOtherCommandLines holds WORKBENCH.md to commands that a script runs.
func TestTheTableForThoseWhoComeFromOtherCommandLines(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := ""
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tried += string(text)
	}
	_, table, _ := strings.Cut(documents(t)["ui/command/WORKBENCH.md"], "## From the Stripe, Hookdeck or Svix CLI")
	named := regexp.MustCompile("`tillwatch ([^`]*)`").FindAllStringSubmatch(table, -1)
	if len(named) == 0 {
		t.Error("WORKBENCH.md has no such table")
	}
	for _, command := range named {
		words := shellWord.FindAllString(command[1], -1)
		for i := range words {
			words[i] = strings.Trim(words[i], "'")
		}
		if path := accepted(t, "WORKBENCH.md", words); !strings.Contains(tried, path+" ") && !strings.Contains(tried, path+"\n") {
			t.Errorf("%s is in the table, and no script tries it", path)
		}
	}
}

// TestDocumentsNameTestsAndFlagsThatAreThere holds that a proof on demand, as in go test ./relay -run NAME
// -flag 3, runs something.
func TestDocumentsNameTestsAndFlagsThatAreThere(t *testing.T) {
	command := regexp.MustCompile(`(?m)^(?:\| .*` + "`" + `)?go test (\./\S+)([^#\n` + "`" + `]*)`)
	usual := []string{"run", "bench", "benchtime", "timeout", "race", "v", "fuzz", "fuzztime"}
	seen := 0
	texts := documents(t)
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	texts["CONTRIBUTING.md"] = string(text)
	for name, text := range texts {
		for _, found := range command.FindAllStringSubmatch(text, -1) {
			if found[1] == "./..." {
				continue
			}
			files, err := filepath.Glob(filepath.Join("..", "..", found[1], "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			source := ""
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				source += string(text)
			}
			seen++
			words := shellWord.FindAllString(found[2], -1)
			for i, word := range words {
				flag, isFlag := strings.CutPrefix(word, "-")
				switch {
				case !isFlag:
				case (flag == "run" || flag == "bench" || flag == "fuzz") && words[i+1] != "'^$'":
					wanted := strings.TrimPrefix(strings.Trim(words[i+1], "'"), "^")
					if !regexp.MustCompile(`(?m)^func (Test|Benchmark|Fuzz)\w*(`+strings.TrimPrefix(wanted, "Benchmark")+`)`).MatchString(source) &&
						!regexp.MustCompile(`(?m)^func (`+strings.TrimSuffix(wanted, "$")+`)`).MatchString(source) {
						t.Errorf("%s: %s: there is no such test", name, found[0])
					}
				case !slices.Contains(usual, flag) && !strings.Contains(source, `("`+flag+`"`):
					t.Errorf("%s: %s: there is no flag -%s", name, found[0], flag)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d proofs are named", seen)
	}
}
