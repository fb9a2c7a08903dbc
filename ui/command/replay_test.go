package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tillwatch/api/simulator"
	"tillwatch/ui/config"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

const recordedDay = "../recording/testdata/day.tillwatch"

// openReplay shows a recording on an emulated screen.
func openReplay(t *testing.T, path string, cfg recording.PlayerConfig, width, height int) (s *screen, left chan struct{}) {
	t.Helper()
	player, err := recording.OpenPlayer(path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, left = newScreen(t, width, height), make(chan struct{})
	owned(t, func(ctx context.Context) error {
		defer close(left)
		o := replayOptions{player: cfg, screen: screenOptions{width: width, height: height}}
		return showReplay(ctx, config.Defaults(), player, o, s, s)
	})
	return s, left
}

func TestAReplayIsPausedSteppedSoughtAndLeft(t *testing.T) {
	t.Parallel()
	s, left := openReplay(t, recordedDay, recording.PlayerConfig{Paused: true, From: 2 * 3600e9}, 120, 36)
	began := s.waitFor(t, `REPLAY`, `‖ paused +\S+ +2h `, `change \d+ of \d+`, `INTENTS \d+`)
	var change, changes int
	if _, err := fmt.Sscanf(strings.ReplaceAll(regexp.MustCompile(`change [\d,]+ of [\d,]+`).FindString(began), ",", ""), "change %d of %d", &change, &changes); err != nil {
		t.Fatal(err)
	}

	s.press(t, "}}")
	s.waitFor(t, `paused +\S+ +2h2m `)
	s.press(t, "{{")
	s.waitFor(t, `paused +\S+ +2h `)
	s.press(t, ".")
	s.waitFor(t, fmt.Sprintf(`change %d of`, change+1), `paused`)
	s.press(t, ",,")
	s.waitFor(t, fmt.Sprintf(`change %d of`, change-1), `paused`)
	s.press(t, "\x1b[H") // home
	s.waitFor(t, `paused +\S+ +0s`, `change 1 of`)
	s.press(t, ">>>")
	s.waitFor(t, `10×`)
	s.press(t, "<")
	s.waitFor(t, `5×`)
	s.press(t, " ")
	s.waitFor(t, `▶ playing`)
	s.press(t, "\x1b[F") // end
	s.waitFor(t, `■ ended`, fmt.Sprintf(`change %[1]s of %[1]s`, wording.Count(changes)))
	s.press(t, "{{{{{{{{{{") // far enough from the end to be seen
	s.waitFor(t, `▶ playing`)

	s.press(t, "1cxXr")
	s.press(t, "?")
	help := s.waitFor(t, `Pause or resume`, `Step forward`)
	if regexp.MustCompile(`(?i)confirm intent|read again|freeze`).MatchString(help) {
		t.Errorf("the help offers what would act:\n%s", help)
	}
	s.press(t, "\x1b")
	s.waitGone(t, `Step forward`) // an escape with a q at its heels is alt+q
	s.press(t, "q")
	<-left
}

func TestWhatIsRecordedIsReplayed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.tillwatch")
	live := func(line string) bool { return strings.Contains(line, "relay live") }
	code, _, words := invokeUntil(t, live, "demo", "--headless", "--seed", "5", "--record", file)
	if code != exitDone || !strings.Contains(words, "recorded") || !strings.Contains(words, "tillwatch replay") {
		t.Fatalf("exit %d: %s", code, words)
	}
	code, _, words = invoke(t, "demo", "--headless", "--record", file)
	if code == exitDone || !strings.Contains(words, "is not overwritten") {
		t.Errorf("once more: exit %d: %s", code, words)
	}
	code, out, words := invoke(t, "replay", file, "--plain")
	if code != exitDone || words != "" || !strings.Contains(out, " watching simulator ") || !strings.Contains(out, "relay live") {
		t.Errorf("exit %d: %s\n%s", code, words, out)
	}
	s, left := openReplay(t, file, recording.PlayerConfig{Paused: true, From: 3600e9}, 200, 55)
	s.waitFor(t, `■ ended`, `relay ● live`)
	s.press(t, "q")
	<-left
}

func TestTheReplaysUsageIsChecked(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", text, "--plain"}, "not a recording"},
		{[]string{"replay", t.TempDir(), "--plain"}, "is a folder"},
		{[]string{"replay", "no-such-file", "--plain"}, "no such file"},
		{[]string{"replay", recordedDay, "--speed", "fast"}, "such as 10x"},
		{[]string{"replay", recordedDay, "--speed", "1e9x"}, "from 0.1x to 1000x"},
		{[]string{"replay", recordedDay, "--plain", "--speed", "2x"}, "need the screen"},
		{[]string{"replay", "--plain"}, "give one FILE: tillwatch replay FILE"},
		{[]string{"demo", "--plain", "--record-limit", "2MB"}, "--record-limit needs --record"},
		{[]string{"demo", "--plain", "--record", filepath.Join(t.TempDir(), "none", "file")}, "no such file or directory"},
	} {
		code, _, words := invoke(t, c.args...)
		if code != exitUsage || !strings.Contains(words, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, words)
		}
	}
}

func TestTheBoardSaysThatItIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	current, err := session.Open(w.settings, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(current.Close)
	file := filepath.Join(t.TempDir(), "r.tillwatch")
	s, left := newScreen(t, 120, 36), make(chan struct{})
	owned(t, func(ctx context.Context) error {
		defer close(left)
		return show(ctx, current, screenOptions{width: 120, height: 36, record: recordOptions{file: file}}, s, s)
	})
	s.waitFor(t, `● rec`, `relay ● live`)
	if _, err := w.service.CreateIntent(simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"}); err != nil {
		t.Fatal(err)
	}
	s.waitFor(t, `awaiting 1\b`, `USD`)
	s.press(t, "q")
	<-left

	again, gone := openReplay(t, file, recording.PlayerConfig{Paused: true, From: 3600e9}, 120, 36)
	again.waitFor(t, `awaiting 1\b`, `spice-lab.example`, `USD`)
	again.press(t, "q")
	<-gone
}
