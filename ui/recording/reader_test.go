package recording

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// recorded is a recording of two minutes in which an intent moves each second, and
// what of it plays.
func recorded(t *testing.T) (content []byte, moments int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		for i := range 120 {
			s.read(fmt.Sprintf("ci_%d", i), api.AwaitingConfirmation, "")
			s.pass(time.Second)
		}
		s.end()
		var err error
		if content, err = os.ReadFile(s.path); err != nil {
			t.Fatal(err)
		}
		moments = len(s.play(PlayerConfig{Paused: true}).tape.changes)
	})
	return content, moments
}

// packed is a part as the writer makes it, of lines of any kind.
func packed(lines ...string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for _, line := range lines {
		w.Write([]byte(line + "\n"))
	}
	w.Close()
	return out.Bytes()
}

const goodHeader = `{"format":"tillwatch","version":2,"kind":"recording","began":"2000-01-01T00:00:00Z","environment":"simulator"}`

// at begins a line of so many milliseconds after the beginning.
func at(ms int) string {
	return fmt.Sprintf(`{"at":%q`, time.Date(2000, 1, 1, 0, 0, 0, ms*1e6, time.UTC).Format(time.RFC3339Nano))
}

func TestAFileThatIsNoGoodIsExplainedInOneSentence(t *testing.T) {
	good, _ := recorded(t)
	const unread = "nothing after its first line can be read"
	for _, c := range []struct {
		name    string
		content []byte
		want    []string
	}{
		{"empty", nil, []string{"first line is damaged or incomplete"}},
		{"a text", []byte("INTENTS 5\n"), []string{"not a recording", "--record makes one"}},
		{"one byte", []byte("{"), []string{"first line is damaged or incomplete"}},
		{"another gzip file", packed("hello"), []string{"not a recording"}},
		{"another program's", packed(`{"format":"asciinema","version":2}`), []string{"not a recording"}},
		{"a saved picture", packed(strings.Replace(goodHeader, `"recording"`, `"picture"`, 1)),
			[]string{"not a recording"}},
		{"an earlier version", packed(`1a2b3c4d {"recording":"tillwatch","format":1,"began":"2000-01-01T00:00:00Z"}`),
			[]string{"earlier tillwatch", "format 1", "use the one that made it"}},
		{"a newer version", packed(`{"format":"tillwatch","version":7,"began":"2000-01-01T00:00:00Z"}`),
			[]string{"newer tillwatch", "format 7", "update"}},
		{"no beginning", packed(`{"format":"tillwatch","version":2}`), []string{"first line is damaged"}},
		{"torn within the first line", good[:40], []string{"first line is damaged"}},
		{"a first line of 10 MB", packed(strings.Repeat("x", 10<<20)), []string{"first line is damaged"}},
		{"a wrong checksum", packed(strings.Replace(goodHeader, `{`, `{"sum":"00000000",`, 1)),
			[]string{"first line is damaged"}},
		{"only the first line", packed(goodHeader), []string{unread}},
		{"a line of 10 MB", packed(goodHeader, at(0)+`,"whole":true,"x":"`+strings.Repeat("x", 10<<20)+`"}`),
			[]string{unread}},
		{"deep nesting", packed(goodHeader, at(0)+`,"whole":true,"x":`+strings.Repeat("[", 1<<20)), []string{unread}},
		{"a line that is no object", packed(goodHeader, `[1,2]`), []string{unread}},
		{"changes of no picture", packed(goodHeader, at(0)+`}`), []string{unread}},
		{"time before the beginning", packed(goodHeader, at(-1)+`,"whole":true}`), []string{unread}},
		{"time in a thousand years", packed(goodHeader, `{"at":"3000-01-01T00:00:00Z","whole":true}`),
			[]string{unread}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			requireRefused(t, path, c.want...)
		})
	}
	t.Run("a folder", func(t *testing.T) { requireRefused(t, t.TempDir(), "is not a regular file") })
	t.Run("nothing", func(t *testing.T) {
		requireRefused(t, filepath.Join(t.TempDir(), "none"), "no such file or directory")
	})
}

func requireRefused(t *testing.T, path string, want ...string) {
	t.Helper()
	_, err := OpenPlayer(path, PlayerConfig{})
	if err == nil {
		t.Fatal("it was opened")
	}
	text := err.Error()
	if strings.Count(text, path) != 1 || strings.Contains(text, "\n") {
		t.Errorf("it does not name the file once, in one line: %s", text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}

func TestATornRecordingPlaysUpToTheTear(t *testing.T) {
	good, all := recorded(t)
	last := 0
	for _, share := range []int{20, 40, 60, 80, 99} {
		f, err := read(bytes.NewReader(good[:len(good)*share/100]), int64(len(good)*share/100))
		if err != nil {
			t.Errorf("%d %%: %v", share, err)
			continue
		}
		p := newPlayer(f, PlayerConfig{Paused: true})
		if !strings.Contains(p.Flaws(), "cut off") {
			t.Errorf("%d %%: flaws %q", share, p.Flaws())
		}
		n := 1
		for p.Advance() {
			n++
		}
		if n <= last || n > all || len(p.Changes(0).Intents) == 0 {
			t.Errorf("%d %%: %d of %d moments play, %d before", share, n, all, last)
		}
		last = n
	}
}

func TestARecordingPlaysUpToItsDamage(t *testing.T) {
	content := packed(goodHeader, at(0)+`,"whole":true,"intents":[{"id":"ci_1"}]}`, at(1)+`,"intents":[{"id":"ci_2"}]}`,
		at(0)+`}`, at(2)+`}`)
	p := newPlayer(reads(t, content), PlayerConfig{Paused: true, From: time.Hour})
	if pos := p.Position(); pos.Changes != 2 || !strings.Contains(p.Flaws(), "the rest of this recording is damaged") {
		t.Errorf("%+v plays, flaws %q", pos, p.Flaws())
	}
}

// reads is a recording in memory.
func reads(t *testing.T, content []byte) *tape {
	t.Helper()
	read, err := read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// hostile is what a recording may hold that comes from a stranger.
const hostile = `\u001b]52;c;aGk=\u0007\r\n\u202e\u009b2J\u200b`

func TestNothingOfAStrangersFileReachesTheTerminalUnscrubbed(t *testing.T) {
	line := strings.ReplaceAll(at(0)+`,"whole":true,"intents":[{"id":"ci_1X","state":"failedX","product":"socksX","merchant":"acmeX","referenceId":"rX","failureReason":{"code":"cX","message":"mX"},`+
		`"timeline":[{"what":"X","to":"sX","event":"eX","type":"tX","failure":"fX"}],"shipments":["shX"],"total":{"currencyCode":"UX","amountSubunits":1},"latest":{"id":"ci_1X","productUrl":"https://a.example/X"}}],`+
		`"shipments":[{"id":"shpX","product":"pX","latest":{"id":"shpX","status":"stX","tracking":{"carrierName":"cX","number":"nX"}}}],`+
		`"events":[{"seq":1,"product":"pX","origin":"oX","id":"eX","type":"tX","sourceType":"sX","sourceId":"iX"}],`+
		`"requests":[{"method":"GX","path":"/X","class":"cX","requestId":"rX","error":"eX","from":{"name":"nX"}}],`+
		`"buckets":[{"class":"cX","policy":"pX"}],`+
		`"summary":{"intents":{"sX":1},"shipments":{"sX":1},"feed":{"state":"lost","epoch":"eX","error":"eX"},"api":{"state":"failing","error":"eX"},`+
		`"alerts":[{"kind":"kX","text":"tX","intent":"iX"}],"pace":{"sX":{}}}}`, "X", hostile)
	content := packed(strings.Replace(goodHeader, `"simulator"`,
		`"simulator`+hostile+`","account":"a`+hostile+`","masked":["m`+hostile+`"]`, 1), line)
	p := newPlayer(reads(t, content), PlayerConfig{Paused: true})
	c := p.Changes(0)
	if len(c.Intents) != 1 || len(c.Shipments) != 1 || len(c.Events) != 1 || len(c.Requests) != 1 ||
		len(c.Summary.Alerts) != 1 || len(c.Summary.Quota) != 1 {
		t.Fatalf("not everything was read: %+v", c)
	}
	all, _ := p.Intent(c.Intents[0].ID)
	latest, shipment, event := *all.Latest, *c.Shipments[0].Latest, *c.Events[0]
	said := fmt.Sprintf("%v %v %v %v %v %v %v %v %v", p.Header(), all.Intent, all.Timeline, latest, shipment, event,
		c.Requests, c.Summary, all.Shipments)
	said += fmt.Sprint(c.Summary.Feed.Err, c.Summary.API.Err, *all.Total, *all.Failure, *shipment.Tracking,
		c.Requests[0].Err, c.Summary.Alerts)
	for _, r := range said {
		if r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x202e || r == 0x200b {
			t.Fatalf("%U reaches the terminal in %q", r, said)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(goodHeader), []byte(at(0)+`,"whole":true,"intents":[{"id":"ci_1","state":"failed"}]}`),
		[]byte(at(5)+`,"buckets":[{"class":"reads","history":[{"at":"2000-01-01T00:00:00Z"}]}]}`), false)
	f.Add([]byte(goodHeader), []byte(at(0)+`,"whole":true,"more":true}`),
		[]byte(at(0)+`,"events":[{"id":"e"}],"requests":[{}],"shipments":[null],"summary":{"intents":5,"feed":null}}`), true)
	f.Add([]byte(`{"format":"tillwatch","version":1e9}`), []byte(`{"at":-1}`), []byte(`{"at":1e99,"more":true}`), true)
	f.Add([]byte(``), []byte(`{"sum":"","at":0}`), []byte(`{"sum":"00000000",`), false)
	f.Fuzz(func(t *testing.T, header, first, second []byte, raw bool) {
		content := packed(string(header), string(first), string(second))
		if raw {
			content = bytes.Join([][]byte{header, first, second}, []byte("\n"))
		}
		opened, err := read(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 300 {
				t.Errorf("not a clear sentence: %q", err)
			}
			return
		}
		p := newPlayer(opened, PlayerConfig{Paused: true})
		for p.Advance() {
		}
		for _, to := range []time.Duration{0, 1 << 60} {
			p.moveTo(to)
			p.show(t.Context())
		}
		for _, in := range p.Changes(0).Intents {
			if api.Scrub(string(in.Product)) != in.Product || api.ScrubID(string(in.ID)) != in.ID {
				t.Errorf("unscrubbed: %q", in.ID)
			}
		}
	})
}
