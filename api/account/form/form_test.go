package form

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)

type item struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
}

// file is one with a part for each list of names, behind a part with the header.
func file(t testing.TB, parts ...[]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, gzip.BestSpeed)
	put := func(v any) {
		if _, err := w.Put(v); err != nil {
			t.Fatal(err)
		}
	}
	put(Begin(Header{Kind: Recording, Began: noon, Environment: "simulator", Masked: []string{"keys"}}))
	for _, names := range parts {
		if err := w.EndPart(); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			put(item{noon, name})
		}
	}
	if err := errors.Join(w.Flush(), w.EndPart()); err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(out.Len()) {
		t.Errorf("%d bytes are counted, %d were written", w.Bytes(), out.Len())
	}
	return out.Bytes()
}

// read reads a file as far as it goes.
func read(content []byte) (h Header, names []string, failures []error) {
	data, size := bytes.NewReader(content), int64(len(content))
	first := true
	for next := int64(0); next < size; {
		p, err := OpenPart(data, next, size)
		if err != nil {
			return h, names, append(failures, err)
		}
		for err == nil {
			var line []byte
			if line, err = p.Next(); err != nil {
				break
			}
			if first {
				if h, err = ReadHeader(line); err != nil {
					return h, names, append(failures, err)
				}
				first = false
				continue
			}
			var i item
			if err = Object(line, &i); err == nil {
				names = append(names, i.Name)
			}
		}
		if errors.Is(err, io.EOF) {
			next = p.End()
			continue
		}
		return h, names, append(failures, err)
	}
	return h, names, failures
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	content := file(t, []string{"one", "two & <three>"}, []string{"four"})
	h, names, failures := read(content)
	if h.Kind != Recording || !h.Began.Equal(noon) || h.Environment != "simulator" || h.Version != Version || len(h.Masked) != 1 {
		t.Errorf("header %+v", h)
	}
	if strings.Join(names, ",") != "one,two & <three>,four" || len(failures) != 0 {
		t.Errorf("names %q, %v", names, failures)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if h, names, failures := read(lines); h.Kind != Recording || len(names) != 3 || len(failures) != 0 {
		t.Errorf("unpacked: %+v with %q, %v", h, names, failures)
	}
}

func TestAFileCutAnywhereReadsAsFarAsItGoes(t *testing.T) {
	content := file(t, []string{"one", "two", "three"})
	for n := range content {
		_, names, failures := read(content[:n])
		if len(names) > 3 {
			t.Errorf("%d bytes: %q", n, names)
		}
		for i, name := range names {
			if name != []string{"one", "two", "three"}[i] {
				t.Errorf("%d bytes: %q", n, names)
			}
		}
		for _, err := range failures {
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrForeign) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

func TestNoFlippedBitOfALineGoesUnnoticed(t *testing.T) {
	line, err := AppendLine(nil, item{noon, "one"})
	if err != nil {
		t.Fatal(err)
	}
	for at := sumPrefix; at < len(line)-1; at++ {
		for bit := range 8 {
			bad := bytes.Clone(line)
			if bad[at] ^= 1 << bit; bad[at] != '\n' && sound(bad[:len(bad)-1]) {
				t.Errorf("bit %d of byte %d: %s", bit, at, bad)
			}
		}
	}
}

func TestAHeaderThatIsNoGoodIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want error
	}{
		"nothing":            {``, ErrForeign},
		"a text":             {`INTENTS 5`, ErrForeign},
		"another program's":  {`{"format":"asciinema","version":2}`, ErrForeign},
		"an earlier version": {`1a2b3c4d {"recording":"tillwatch","format":1,"began":"2000-01-01T00:00:00Z"}`, ErrVersion},
		"a later version":    {`{"format":"tillwatch","version":3,"began":"2000-01-01T00:00:00Z"}`, ErrVersion},
		"a version below 1":  {`{"format":"tillwatch","version":-1,"began":"2000-01-01T00:00:00Z"}`, ErrVersion},
		"no beginning":       {`{"format":"tillwatch","version":2}`, ErrDamaged},
		"a wrong sum":        {`{"sum":"00000000","format":"tillwatch","version":2,"began":"2000-01-01T00:00:00Z"}`, ErrDamaged},
		"deep nesting":       {`{"format":` + strings.Repeat("[", 100_000), ErrForeign},
	} {
		if _, err := ReadHeader([]byte(c.line)); !errors.Is(err, c.want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for want, line := range map[string]string{
		"an earlier tillwatch made it (format 1), and this one reads format 2": `1a2b3c4d {"recording":"tillwatch","format":1}`,
		"a newer tillwatch made it (format 7)":                                 `{"format":"tillwatch","version":7,"began":"2000-01-01T00:00:00Z"}`,
	} {
		if _, err := ReadHeader([]byte(line)); !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestAHeadersTextsAreSafeToDraw(t *testing.T) {
	const hostile = `\u001b]52;c;aGk=\u0007\r\n\u202e`
	h, err := ReadHeader([]byte(`{"format":"tillwatch","version":2,"kind":"k` + hostile + `","program":"p` + hostile + `","began":"2000-01-01T00:00:00Z","environment":"e` +
		hostile + `","account":"a` + hostile + `","width":-5,"height":99999999,"masked":["m` + hostile + `"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(h.Masked, string(h.Kind), h.Program, h.Environment, h.Account) {
		if strings.ContainsAny(text, "\x1b\x07\r\n\u202e") {
			t.Errorf("%q is not safe", text)
		}
	}
	if h.Width != 0 || h.Height != mostCells {
		t.Errorf("size %dx%d", h.Width, h.Height)
	}
}

func TestALineOfTenMegabytesIsRefused(t *testing.T) {
	for name, content := range map[string][]byte{
		"plain":  append([]byte(`{"format":"tillwatch","version":2,"began":"2000-01-01T00:00:00Z"}`+"\n"), bytes.Repeat([]byte("x"), 10<<20)...),
		"packed": append(file(t), packed(t, bytes.Repeat([]byte("x"), 10<<20))...),
	} {
		if _, names, failures := read(content); len(names) != 0 || len(failures) != 1 || !errors.Is(failures[0], ErrDamaged) {
			t.Errorf("%s: %d names, %v", name, len(names), failures)
		}
	}
}

// packed is a part of a file with this content.
func packed(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func FuzzReadFile(f *testing.F) {
	whole := file(f, []string{"one"}, []string{"two"})
	f.Add(whole)
	f.Add(whole[:len(whole)-9])
	f.Add([]byte(`{"format":"tillwatch","version":2,"began":"2000-01-01T00:00:00Z"}` + "\n" + `{"at":1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _, failures := read(content)
		for _, err := range failures {
			if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 300 {
				t.Errorf("not a clear sentence: %q", err)
			}
		}
	})
}
