package themes

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Library finds themes by name: first in the user's folder, where each NAME.toml is a
// theme, then among the embedded ones.
type Library struct {
	Folder string // "": only embedded themes
}

// maxFile is the largest theme file, in bytes.
const maxFile = 64 << 10

// Names lists the embedded themes, then those of the folder in alphabetical order.
func (l Library) Names() []string {
	names := Names()
	if l.Folder == "" {
		return names
	}
	entries, err := os.ReadDir(l.Folder) // sorted
	if err != nil {
		return names
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".toml")
		if ok && !entry.IsDir() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Load returns the theme called name. A name that ends in .toml or holds a
// separator is the path of a theme file. Errors name the file, the line and the
// key, or list the names.
func (l Library) Load(name string) (Theme, error) {
	theme, _, err := l.LoadFiles(name)
	return theme, err
}

// Files are the files that a theme and its bases were read from: path to content, ""
// if missing.
type Files map[string]string

// LoadFiles is [Library.Load] that also returns the files, even with an error. An
// embedded theme has none.
func (l Library) LoadFiles(name string) (Theme, Files, error) {
	r := newReading(l)
	theme, err := r.theme(name)
	return theme, r.files, err
}

// Source returns a theme's source and its path; "" if it is embedded.
func (l Library) Source(name string) (data []byte, path string, err error) {
	return newReading(l).source(name)
}

// reading loads one theme with its bases.
type reading struct {
	library Library
	chain   []string // files and embedded names so far
	files   Files
}

func newReading(l Library) *reading { return &reading{library: l, files: Files{}} }

func (r *reading) theme(name string) (Theme, error) {
	data, path, err := r.source(name)
	if err != nil {
		return Theme{}, err
	}
	key, where, own := path, "theme file "+path, strings.TrimSuffix(filepath.Base(path), ".toml")
	if path == "" {
		key, where, own = name, "embedded theme "+name, name
	}
	if slices.Contains(r.chain, key) {
		return Theme{}, fmt.Errorf("themes are based on each other: %s", strings.Join(append(r.chain, key), ", "))
	}
	r.chain = append(r.chain, key)
	theme, err := parse(data, own, func(base string) (Theme, error) {
		if isPath(base) && !filepath.IsAbs(base) {
			base = filepath.Join(filepath.Dir(path), base)
		}
		return r.theme(base)
	})
	if err != nil {
		return Theme{}, fmt.Errorf("%s: %w", where, err)
	}
	return theme, nil
}

// source reads a theme. A user's theme based on its own name changes the embedded
// one.
func (r *reading) source(name string) (data []byte, path string, err error) {
	if isPath(name) {
		data, err = r.read(name)
		return data, name, err
	}
	if r.library.Folder != "" && name != "" {
		path = filepath.Join(r.library.Folder, name+".toml")
		data, embedded := readEmbedded(name)
		if !embedded || !slices.Contains(r.chain, path) {
			own, err := r.read(path)
			if !errors.Is(err, fs.ErrNotExist) {
				return own, path, err
			}
		}
		if embedded {
			delete(r.files, path)
			return data, "", nil
		}
	} else if data, ok := readEmbedded(name); ok {
		return data, "", nil
	}
	return nil, "", unknown(name, r.library.Names())
}

func (r *reading) read(path string) ([]byte, error) {
	r.files[path] = ""
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() { // a pipe might never open
		return nil, fmt.Errorf("theme file %s: it is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("theme file %s: %w", path, cause(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("theme file %s: %w", path, cause(err))
	case len(data) > maxFile:
		return nil, fmt.Errorf("theme file %s: larger than %d KiB", path, maxFile>>10)
	}
	r.files[path] = string(data)
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil // some editors begin a file so
}

// cause is a file's error without the path, which the message already has.
func cause(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func isPath(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.ContainsAny(name, `/\`)
}
