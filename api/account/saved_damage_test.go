package account

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account/form"
)

func TestDamagedPictureYieldsToTheOneBeforeIt(t *testing.T) {
	f := openSaved(t, t.TempDir())
	if c := mustRestore(t, f).Changes(0); c.Version != 0 {
		t.Fatalf("restored %+v from nothing", c)
	}
	first := NewStore(StoreConfig{})
	first.ApplyRead(awaiting("ci_first", noon), noon, ByRead)
	mustSave(t, f, first)
	mustSave(t, f, lived(t))
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	const header = `{"format":"tillwatch","version":2,"kind":"picture","began":"2026-03-04T12:00:00Z"}`
	const memberHeader = 20 // bytes, with the mark of a part (RFC 1952, 2.3)
	type damage struct {
		name    string
		content []byte
		want    error
	}
	cases := []damage{
		{"of a later version", lines(strings.Replace(header, `"version":2`, `"version":3`, 1), "something new"), form.ErrVersion},
		{"of an earlier version", []byte("tillwatch picture 1\n\x07\xff"), form.ErrVersion},
		{"a recording", lines(strings.Replace(header, "picture", "recording", 1), `{"at":"2026-03-04T12:00:00Z","whole":true}`), form.ErrDamaged},
		{"something else", lines("{}"), form.ErrDamaged},
		{"nothing in it", lines(header), form.ErrDamaged},
		{"no end", lines(header, `{"at":"2026-03-04T12:00:00Z","whole":true,"more":true}`), form.ErrDamaged},
		{"no beginning", lines(header, `{"at":"2026-03-04T12:00:00Z","intents":[{"id":"ci_1"}]}`), form.ErrDamaged},
		{"an intent without id", lines(header, `{"at":"2026-03-04T12:00:00Z","whole":true,"intents":[{"state":"failed"}]}`), form.ErrDamaged},
		{"a timeline with a hole", lines(header, `{"at":"2026-03-04T12:00:00Z","whole":true,"intents":[{"id":"ci_1","timeline":[null]}]}`), form.ErrDamaged},
		{"garbage", lines(header, "\x07\xff\x82garbage"), form.ErrDamaged},
		{"deep nesting", lines(header, strings.Repeat("[", 1<<20)), form.ErrDamaged},
	}
	for i := range 50 {
		cases = append(cases, damage{fmt.Sprint("torn ", i), whole[:len(whole)*i/50], form.ErrDamaged})
		flipped, at := bytes.Clone(whole), len(whole)*i/50
		if member := bytes.LastIndex(whole[:at+1], []byte{0x1f, 0x8b, 8}); member > 0 && at-member < memberHeader {
			at += memberHeader // what is in that says nothing of the picture
		}
		for flipped[at] ^= 1 << (i % 8); bytes.Equal(unpacked(flipped), unpacked(whole)); flipped[at] ^= 1 << (i % 8) {
			flipped[at] ^= 1 << (i % 8) // it only fills a byte up, and damages nothing
			at++
		}
		cases = append(cases, damage{fmt.Sprint("flipped ", i), flipped, form.ErrDamaged})
	}
	for _, c := range cases {
		if err := os.WriteFile(f.path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := mustRestore(t, f)
		if now := s.Changes(0); len(now.Intents) != 1 || now.Intents[0].ID != "ci_first" {
			t.Errorf("%s: restored %+v, want the one before", c.name, now)
		}
		alone := openSaved(t, t.TempDir())
		if err := os.WriteFile(alone.path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		empty := NewStore(StoreConfig{})
		if err := alone.Restore(empty); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if now := empty.Changes(0); len(now.Intents)+len(now.Events) > 0 || !hasAlert(empty, AlertSaving) {
			t.Errorf("%s: the picture is %+v, want an alert alone", c.name, now)
		}
	}
}

func FuzzReadPicture(f *testing.F) {
	file := openSaved(f, f.TempDir())
	mustSave(f, file, lived(f))
	whole, err := os.ReadFile(file.path)
	if err != nil {
		f.Fatal(err)
	}
	const header = `{"format":"tillwatch","version":2,"kind":"picture","began":"2026-03-04T12:00:00Z"}`
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(header + "\n" + `{"at":"2026-03-04T12:00:00Z","whole":true,"intents":[{"id":"ci_1\u001b[2J","state":"x"},{"id":"ci_1"}],"memory":{"intents":{"ci_1":{"floor":99}},"stays":{"x":[-1]}}}` + "\n"))
	f.Add([]byte(header + "\n" + `{"at":"2026-03-04T12:00:00Z","whole":true,"summary":{"feed":{"cursor":-5,"epoch":"e"},"pace":3},"shipments":[{"id":"s","intentId":"ci_1","latest":{"id":"s"}}]}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		frames, err := readPicture(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 300 {
				t.Errorf("not a clear sentence: %q", err)
			}
			return
		}
		s := NewStore(StoreConfig{})
		s.restore(frames)
		sum := s.Summary()
		counted := sum.NotRead
		for _, n := range sum.Intents {
			counted += n
		}
		c := s.Changes(0)
		if counted != len(c.Intents) {
			t.Errorf("%d intents are counted, %d are there", counted, len(c.Intents))
		}
		for _, in := range c.Intents {
			if api.ScrubID(string(in.ID)) != in.ID || api.Scrub(string(in.Product)) != in.Product {
				t.Errorf("intent %q is not safe to draw", in.ID)
			}
		}
	})
}

// unpacked is what a file holds; nil where that cannot be read.
func unpacked(packed []byte) []byte {
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return nil
	}
	return content
}
