package command

import (
	"encoding/json"
	"io"
)

// printed writes what a command found: as one line of JSON, or else as text for people.
func printed(w io.Writer, asJSON bool, found any, text string) error {
	if asJSON {
		return json.NewEncoder(w).Encode(found)
	}
	_, err := io.WriteString(w, text)
	return err
}
