package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/session"
)

// exporter exports intents of a session to files in a folder.
type exporter struct {
	*session.Session
	folder string
}

// text is an intent in a form, with the buyer if personal is true.
func (e exporter) text(id api.ID, form dashboard.ExportForm, personal bool) (string, error) {
	in, known := e.Store.Intent(id)
	if !known {
		return "", errors.New("it is no longer kept here")
	}
	line := intentLineOf(e.Session, in, personal, e.Store.Summary().Feed.State == account.FeedLive, time.Now())
	if form == dashboard.Markdown {
		return line.text(), nil
	}
	var out bytes.Buffer
	indented := json.NewEncoder(&out)
	indented.SetIndent("", "  ")
	err := indented.Encode(line)
	return out.String(), err
}

// Save implements [dashboard.Exporter].
func (e exporter) Save(id api.ID, form dashboard.ExportForm, personal bool) (string, error) {
	text, err := e.text(id, form, personal)
	if err != nil {
		return "", err
	}
	ending := map[dashboard.ExportForm]string{dashboard.Markdown: ".md", dashboard.JSON: ".json"}[form]
	path, err := newFile(e.folder, "exports", string(id), ending)
	if err != nil {
		return "", durable.ReasonFirst(err)
	}
	return path, durable.ReasonFirst(durable.Replace(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}))
}

// folder is where the user's files go: the demo deletes its own folder, so its files go where other runs keep theirs.
func (o screenOptions) folder(s settings) string { return cmp.Or(o.files, s.StateDir) }

// newFile is the path of a new file, named after name and the time, in a folder of this kind inside of folder that
// only its owner can open.
func newFile(folder, kind, name, ending string) (string, error) {
	folder = filepath.Join(folder, kind)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return freeName(filepath.Join(folder, fileName(name)+"-"+time.Now().Format("20060102-150405")), ending)
}

// freeName is path, with a number if it is taken.
func freeName(path, ending string) (string, error) {
	for n := 1; ; n++ {
		free := path + ending
		if n > 1 {
			free = fmt.Sprintf("%s-%d%s", path, n, ending)
		}
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free, nil
		} else if err != nil {
			return "", err
		}
	}
}

// fileName makes a file name of remote text: letters, digits, hyphens and
// underscores.
func fileName(text string) string {
	const longest = 80
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, text)
	return name[:min(len(name), longest)]
}
