package themes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed files/*.toml
var embedded embed.FS

// Find returns the embedded theme called name; the error lists the names.
func Find(name string) (Theme, error) {
	data, err := embedded.ReadFile("files/" + name + ".toml")
	if err != nil {
		return Theme{}, fmt.Errorf("no theme is called %q: there are %s", name, strings.Join(Names(), ", "))
	}
	t, err := Parse(data)
	if err != nil {
		return Theme{}, fmt.Errorf("embedded theme %s: %w", name, err)
	}
	return t, nil
}

// Names lists the embedded themes, in alphabetical order.
func Names() []string {
	files, err := fs.Glob(embedded, "files/*.toml")
	if err != nil {
		return nil
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(path.Base(file), ".toml")
	}
	return names
}
