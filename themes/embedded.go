package themes

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed files/*.toml
var embedded embed.FS

// Find returns the embedded theme called name; the error lists the names.
func Find(name string) (Theme, error) { return Library{}.Load(name) }

// Names lists the embedded themes: the plain ones, then those for other kinds of
// eyesight, then well-known palettes.
func Names() []string {
	return []string{
		Default, "dark", "light",
		"high-contrast", "deuteranopia", "tritanopia",
		"catppuccin-mocha", "gruvbox-dark", "nord",
	}
}

func readEmbedded(name string) ([]byte, bool) {
	data, err := embedded.ReadFile("files/" + name + ".toml")
	return data, err == nil
}

func unknown(name string, names []string) error {
	return fmt.Errorf("no theme is called %q: there are %s; give your own file by its path, as in ./my.toml",
		name, strings.Join(names, ", "))
}
