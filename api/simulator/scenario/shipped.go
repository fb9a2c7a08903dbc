package scenario

import (
	"bytes"
	"embed"
	"io/fs"
)

//go:embed shipped
var shipped embed.FS

// Shipped lists the scenarios that come with the program, by name.
func Shipped() []*Scenario {
	var all []*Scenario
	files, err := fs.Glob(shipped, "shipped/*.toml")
	if err != nil {
		panic("scenario: " + err.Error())
	}
	for _, file := range files {
		content, err := shipped.ReadFile(file)
		if err != nil {
			panic("scenario: " + err.Error())
		}
		s, err := Read(file, bytes.NewReader(content))
		if err != nil {
			panic("scenario: " + err.Error())
		}
		all = append(all, s)
	}
	return all
}

// Source returns the file of a scenario that comes with the program; nil if there is
// none of that name.
func Source(name string) []byte {
	content, err := shipped.ReadFile("shipped/" + name + ".toml")
	if err != nil {
		return nil
	}
	return content
}
